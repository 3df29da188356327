"""Runs `python -m app web`, and logs each blocking call on its event loop, from the first request on.

blockbuster wraps the standard library's blocking functions (sleep, sockets, TLS, files, locks). A wrapped function
raises an error on a running loop. The error is also logged here, because the code under test may catch it.
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

FOUND = "blocking call"
# Allowed blocking calls: (function, end of the file's path, function that may call it).
ALLOWED = (
    # FastAPI looks up the source file of each handler once, for error messages.
    ("os.stat", "fastapi/routing.py", "_extract_endpoint_context"),
)
# blockbuster allows writing to standard error, as loguru does, although the reader of a pipe may make a write block.


class LoggedError(blockbuster.blockbuster.BlockingError):
    def __init__(self, function: str) -> None:
        super().__init__(function)
        stack = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_stack()[:-2]]
        sys.stderr.write(json.dumps({"message": f"{FOUND}: {function}", "stack": stack}) + "\n")


class Strict:
    """Activates blockbuster at the first request of `app`, because blocking calls at the start delay no request."""

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
    app.add_middleware(Strict)
    serve(app)


if __name__ == "__main__":
    main()
