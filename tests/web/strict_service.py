"""`python -m app web` that logs each blocking call on its event loop, from the first request on.

blockbuster wraps the standard library's blocking functions: sleep, sockets, TLS, files, locks, and raises where one is
called on a running loop. Here the error is also logged, as the code under test may catch it.
"""

import json
import sys
import traceback
from typing import Any

import blockbuster.blockbuster
from blockbuster import BlockBuster
from starlette.types import ASGIApp, Receive, Scope, Send

from app.settings import load_settings
from app.telemetry.logging import configure_logging
from app.web.main import create_app
from app.web.serve import serve
from app.web.service import Service

FOUND = "blocking call"
# What may block, and why: (function, end of the file's path, function in which it may).
ALLOWED = (
    # FastAPI looks once for the source file of each handler, for its error messages; v10's webhooks do without FastAPI.
    ("os.stat", "fastapi/routing.py", "_extract_endpoint_context"),
)
# blockbuster itself allows writing to standard error, where loguru writes: a pipe's reader decides how long it takes.


class LoggedError(blockbuster.blockbuster.BlockingError):
    def __init__(self, function: str) -> None:
        super().__init__(function)
        stack = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_stack()[:-2]]
        sys.stderr.write(json.dumps({"message": f"{FOUND}: {function}", "stack": stack}) + "\n")


class Strict:
    """`app`, with blockbuster from its first request on, because blocking calls at the start delay no request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._blockbuster = BlockBuster()
        for function, file, caller in ALLOWED:
            self._blockbuster.functions[function].can_block_in(file, caller)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._blockbuster.activate()
        await self._app(scope, receive, send)


def main() -> None:
    module: Any = blockbuster.blockbuster
    module.BlockingError = LoggedError
    settings = load_settings()
    configure_logging(settings)
    app = create_app(settings)
    service = Service.of(app)
    app.add_middleware(Strict)
    serve(app, settings, service.admission.drain, service.webhooks)


if __name__ == "__main__":
    main()
