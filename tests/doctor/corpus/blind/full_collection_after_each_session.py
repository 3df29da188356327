"""A handler calls gc.collect() for each deleted session, in a process with a large heap.

After EdanStarfire/claudecode_webui#1942 (audit synchronous gc.collect() calls that can block the event loop).
"""

import gc

from litestar import Litestar, delete

CASE = {
    "framework": "litestar",
    "kind": "collects",
    "route": "DELETE /sessions/{session_id:int}",
    "cures": ["garbage", "less"],
    "send": [("DELETE", "/sessions/4", 3, 1)],
    "source": "https://github.com/EdanStarfire/claudecode_webui/issues/1942",
}
gc.disable()
history = [{"id": number, "parts": [number]} for number in range(1_500_000)]
gc.enable()
sessions: dict[int, list[str]] = {}


@delete("/sessions/{session_id:int}")
async def close(session_id: int) -> None:
    sessions.pop(session_id, None)
    gc.collect()  # FAULT


app = Litestar([close])
