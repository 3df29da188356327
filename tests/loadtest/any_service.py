"""A service that is none of this project's: python -m tests.loadtest.any_service PORT

It creates orders, and has an endpoint that blocks the event loop.
"""

import sys
import time
from typing import Annotated

import uvicorn
from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel

KEY = "s3cret-key"
BLOCKED_SECONDS = 0.1


class Order(BaseModel):
    id: int
    note: str


def create_app() -> FastAPI:
    app = FastAPI()
    orders: list[int] = []

    @app.post("/orders/", status_code=201)
    async def create(order: Order, x_key: Annotated[str, Header()]) -> Order:
        if x_key != KEY:
            raise HTTPException(403)
        orders.append(order.id)
        return order

    @app.get("/orders/")
    async def created() -> dict[str, int]:
        return {"all": len(orders), "distinct": len(set(orders))}

    @app.get("/blocking")
    async def block() -> None:
        time.sleep(BLOCKED_SECONDS)  # noqa: ASYNC251  # the planted fault

    return app


if __name__ == "__main__":
    uvicorn.run(create_app(), port=int(sys.argv[1]), log_level="warning")
