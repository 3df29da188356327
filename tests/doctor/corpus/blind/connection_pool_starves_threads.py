"""Synchronous endpoints wait for a pool of ten connections and occupy all threads of AnyIO meanwhile.

After fastapi/fastapi#3205 (Using dependency injection to get SQLAlchemy session can lead to deadlock).
"""

import queue
import time

from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "starves",
    "route": "GET /users/{user_id}",
    "cures": ["more threads"],
    "send": [("GET", "/users/5", 70, 70)],
    "source": "https://github.com/fastapi/fastapi/issues/3205",
}
app = FastAPI()
pool: queue.Queue[str] = queue.Queue()
for number in range(10):
    pool.put(f"connection-{number}")


@app.get("/users/{user_id}")
def user(user_id: int) -> dict[str, object]:
    connection = pool.get()  # FAULT
    try:
        time.sleep(0.7)  # FAULT
        return {"id": user_id, "connection": connection}
    finally:
        pool.put(connection)
