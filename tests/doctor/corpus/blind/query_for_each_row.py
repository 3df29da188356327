"""A handler loads each order's customer with a query of its own, over a client that blocks for 45 ms each.

After dbinfrago/capella-collab-manager#2239 (Connect to PostgreSQL asynchronously).
"""

import asyncio
import os

import requests
from litestar import Litestar, get

CASE = {
    "framework": "litestar",
    "kind": "many_short",
    "route": "GET /shops/{shop:str}/orders",
    "cures": ["async client", "thread", "less"],
    "send": [("GET", "/shops/a/orders", 1, 1)],
    "source": "https://github.com/dbinfrago/capella-collab-manager/issues/2239",
}
session = requests.Session()


class Order:
    """An order that loads its customer when somebody reads the attribute."""

    def __init__(self, number: int) -> None:
        self.number = number

    @property
    def customer(self) -> bool:
        answer = session.get(os.environ["CASE_HTTP"] + "/slow/0.04", timeout=60)  # FAULT
        return bool(answer.json()["ok"])


@get("/shops/{shop:str}/orders")
async def orders(shop: str) -> list[bool]:
    customers = []
    for number in range(50):
        customers.append(Order(number).customer)
        await asyncio.sleep(0)
    return customers


app = Litestar([orders])
