"""Profiles one webhook at a time with pyinstrument. Writes HTML, text and speedscope files.

A profile shows the wall time of the event loop's thread, including the time in which the webhook waits for SQS. If
another thread handles the webhook, the profile shows only that the event loop awaits the thread.
"""

import os
from itertools import count
from pathlib import Path

from loguru import logger
from starlette.types import ASGIApp, Receive, Scope, Send

from app.telemetry.record import WebhookRecord
from app.web.intake import Fields, Intake

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
# For a webhook without a task, the work before the call to SQS takes less than INTERVAL_SECONDS. Only a shorter
# interval gives samples of this work.
CALLBACK_INTERVAL_SECONDS = 0.0001
SESSION = "pyisession"
RENDERERS: dict[str, Renderer] = {
    "html": HTMLRenderer(),
    "txt": ConsoleRenderer(unicode=True, color=False, show_all=False),
    "speedscope.json": SpeedscopeRenderer(),
}


class Profiles:
    """Writes the files of each profile: `<number>.html`, `.txt`, `.speedscope.json` and pyinstrument's `.pyisession`.

    There is one profile at a time. Requests that arrive during a profile are served without a profile.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count(1)
        self.busy = False
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, profiler: Profiler) -> None:
        number = next(self._numbers)
        session: Session | None = profiler.last_session
        assert session is not None
        session.save(self._folder / f"{number}.{SESSION}")
        for ending, renderer in RENDERERS.items():
            (self._folder / f"{number}.{ending}").write_text(renderer.render(session), encoding="utf-8")
        for ending in (SESSION, *RENDERERS):
            (self._folder / f"{number - KEPT}.{ending}").unlink(missing_ok=True)
        logger.info("Profile {} written to {}", number, self._folder)


class Profiling:
    """Middleware that profiles requests on `path`, one at a time."""

    def __init__(self, app: ASGIApp, folder: Path, path: str) -> None:
        self._app = app
        self._profiles = Profiles(folder)
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        profiles = self._profiles
        if profiles.busy or scope["type"] != "http" or scope["path"] != self._path:
            await self._app(scope, receive, send)
            return
        profiles.busy = True
        profiler = Profiler(interval=INTERVAL_SECONDS, async_mode="enabled")
        try:
            with profiler:
                await self._app(scope, receive, send)
            profiles.write(profiler)
        finally:
            profiles.busy = False


def profile_callbacks(intake: Intake, folder: Path) -> None:
    """Makes `intake` profile one webhook at a time, from `begin` to `end`. Use it if webhooks skip the middleware."""
    profiling, begin, end = CallbackProfiling(folder), intake.begin, intake.end

    def begin_profiled(fields: Fields) -> WebhookRecord:
        record = begin(fields)
        profiling.begin(record)
        return record

    def end_profiled(record: WebhookRecord) -> None:
        end(record)
        profiling.end(record)

    intake.begin = begin_profiled  # type: ignore[method-assign]  # the intake knows no instruments
    intake.end = end_profiled  # type: ignore[method-assign]


class CallbackProfiling:
    """Profiles the event loop's thread between `begin` and `end` of a webhook that has no task of its own.

    The profile also shows what the thread does for other webhooks in this time.
    """

    def __init__(self, folder: Path) -> None:
        self._profiles = Profiles(folder)
        self._webhook: object = None
        self._profiler = Profiler()

    def begin(self, webhook: object) -> None:
        if not self._profiles.busy:
            self._profiles.busy, self._webhook = True, webhook
            self._profiler = Profiler(interval=CALLBACK_INTERVAL_SECONDS, async_mode="disabled")
            self._profiler.start()

    def end(self, webhook: object) -> None:
        if webhook is self._webhook:
            self._profiler.stop()
            self._profiles.write(self._profiler)
            self._profiles.busy, self._webhook = False, None
