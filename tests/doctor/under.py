"""Serves a case under another tool, as its documentation says: `python -m tests.doctor.under TOOL CASE LOOP DIR`.

blockbuster    activated before the application is imported: it raises where a blocking function is called
asyncio-debug  the loop's debug mode, and logging; `PYTHONASYNCIODEBUG=1` has no effect on uvicorn in Python 3.11
aiodebug       log_slow_callbacks with the doctor's limit, and hang_inspection into DIR with its default interval
pyinstrument   the documented middleware: a profile of each request, of which the frames of 0.1 s and more are printed
"""

import asyncio
import logging
import socket
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import uvicorn

LIMIT = 0.1


def main(tool: str, name: str, loop: str, folder: str) -> None:
    logging.basicConfig()
    sys.path.insert(0, str(Path.cwd()))
    if tool == "blockbuster":
        from blockbuster import BlockBuster

        BlockBuster().activate()
    app = import_module(name).app
    if tool == "aiodebug":
        app = _aiodebug(app, folder)
    if tool == "pyinstrument":
        app = _profiled(app, name)
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"Serving on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)  # noqa: T201  # for the parent
    config = uvicorn.Config(app, loop=loop, access_log=False, log_level="warning")
    with asyncio.Runner(debug=tool == "asyncio-debug", loop_factory=config.get_loop_factory()) as runner:
        runner.run(uvicorn.Server(config).serve([listener]))


def _aiodebug(app: Any, folder: str) -> Any:
    from aiodebug import hang_inspection, log_slow_callbacks

    log_slow_callbacks.enable(LIMIT)
    started: list[Any] = []

    async def inspected(scope: Any, receive: Any, send: Any) -> None:
        if not started:
            started.append(hang_inspection.start(folder, loop=asyncio.get_running_loop()))
        await app(scope, receive, send)

    return inspected


def _profiled(app: Any, name: str) -> Any:
    from pyinstrument import Profiler

    async def profiled(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        with Profiler(interval=0.001, async_mode="enabled") as profiler:
            await app(scope, receive, send)
        assert profiler.last_session is not None
        _print_slow(profiler.last_session.root_frame(), f"{name}.py")

    return profiled


def _print_slow(frame: Any, file: str) -> float:
    """Prints the innermost functions of the file that take LIMIT or longer, without what they await.

    Returns the seconds of the frame without what it awaits.
    """
    if frame is None:
        return 0.0
    inner = [(child, _print_slow(child, file)) for child in frame.children]
    awaited = sum(child.time - seconds for child, seconds in inner)
    own = 0.0 if "[await]" in frame.function else frame.time - awaited
    if own >= LIMIT and (frame.file_path or "").endswith(file) and not any(_slow(child, file) for child, _ in inner):
        print(f"pyinstrument {frame.file_path} {frame.line_no} {frame.function} {own:.3f}", flush=True)  # noqa: T201
    return own


def _slow(frame: Any, file: str) -> bool:
    own = (frame.file_path or "").endswith(file) and frame.time >= LIMIT and "[await]" not in frame.function
    return own or any(_slow(child, file) for child in frame.children)


if __name__ == "__main__":
    main(*sys.argv[1:])
