"""A handler takes a threading.Lock that the background task of the request before holds in a thread.

After weaviate/weaviate-python-client#1332 (Fix event loop blocking and deadlocks in batching loop).
"""

import threading
import time

from fastapi import BackgroundTasks, FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "waits",
    "route": "PUT /objects/{key}",
    "cures": ["async client", "thread"],
    "send": [("PUT", "/objects/a", 5, 1)],
    "source": "https://github.com/weaviate/weaviate-python-client/issues/1332",
}
app = FastAPI()


class Batch:
    """Objects that a thread sends to the database while it holds the lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.objects: list[str] = []

    def add(self, key: str) -> int:
        with self.lock:  # FAULT
            self.objects.append(key)
            return len(self.objects)

    def send(self) -> None:
        with self.lock:
            time.sleep(0.5)
            self.objects.clear()


batch = Batch()


@app.put("/objects/{key}")
async def put(key: str, background: BackgroundTasks) -> dict[str, int]:
    size = batch.add(key)
    background.add_task(batch.send)
    return {"size": size}
