"""Requests leave cyclic garbage behind, but little at a time, and the objects of the start are frozen."""

import gc
from typing import Any

CASE = {
    "framework": "asgi",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("GET", "/tree", 150, 4)],
    "source": "",
}


class Node:
    """A node that knows its parent, so that only the collector can free the tree."""

    def __init__(self, parent: "Node | None") -> None:
        self.parent = parent
        self.children: list[Node] = []
        if parent is not None:
            parent.children.append(self)


def tree(size: int) -> Node:
    root = Node(None)
    for _number in range(size):
        Node(root)
    return root


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        gc.collect()
        gc.freeze()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    body = str(len(tree(1_000).children)).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})
