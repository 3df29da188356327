"""Profiles one webhook at a time with pyinstrument, in an ASGI middleware. Writes HTML, text and speedscope files.

A profile shows the wall time of the event loop's thread, including the time in which the webhook waits for SQS. If
another thread handles the webhook, the profile shows only that the event loop awaits the thread.
"""

import os
from itertools import count
from pathlib import Path

from loguru import logger
from starlette.types import ASGIApp, Receive, Scope, Send

# pyinstrument reads this variable on import. Without the variable, pyinstrument prints a warning among the log's JSON
# lines if clocks are slow or the machine is busy:
# https://github.com/joerick/pyinstrument/blob/main/pyinstrument/stack_sampler.py
os.environ.setdefault("PYINSTRUMENT_IGNORE_OVERHEAD_WARNING", "1")

from pyinstrument import Profiler
from pyinstrument.renderers import ConsoleRenderer, HTMLRenderer, Renderer, SpeedscopeRenderer
from pyinstrument.session import Session

# Maximum number of profiles in the folder. A new profile replaces the oldest one.
KEPT = 20
INTERVAL_SECONDS = 0.0005
SESSION = "pyisession"
RENDERERS: dict[str, Renderer] = {
    "html": HTMLRenderer(),
    "txt": ConsoleRenderer(unicode=True, color=False, show_all=False),
    "speedscope.json": SpeedscopeRenderer(),
}


class Profiling:
    """Profiles requests on `path`, one at a time. Requests that arrive during a profile are served without a profile.

    Writes each profile to `<number>.html`, `.txt`, `.speedscope.json` and pyinstrument's `.pyisession`.
    """

    def __init__(self, app: ASGIApp, folder: Path, path: str) -> None:
        self._app = app
        self._folder = folder
        self._path = path
        self._numbers = count(1)
        self._busy = False
        folder.mkdir(parents=True, exist_ok=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._busy or scope["type"] != "http" or scope["path"] != self._path:
            await self._app(scope, receive, send)
            return
        self._busy = True
        profiler = Profiler(interval=INTERVAL_SECONDS, async_mode="enabled")
        try:
            with profiler:
                await self._app(scope, receive, send)
            self._write(profiler, next(self._numbers))
        finally:
            self._busy = False

    def _write(self, profiler: Profiler, number: int) -> None:
        session: Session | None = profiler.last_session
        assert session is not None
        session.save(self._folder / f"{number}.{SESSION}")
        for ending, renderer in RENDERERS.items():
            (self._folder / f"{number}.{ending}").write_text(renderer.render(session))
        for ending in (SESSION, *RENDERERS):
            (self._folder / f"{number - KEPT}.{ending}").unlink(missing_ok=True)
        logger.info("Profile {} written to {}", number, self._folder)
