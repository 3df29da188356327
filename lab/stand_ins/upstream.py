"""A slow upstream for the lab: `GET /?ms=n` waits for n milliseconds (0 to 10,000), and answers `{"waited_ms": n}`.

`start()` runs the upstream as a child process that ends with its parent; `python -m lab.stand_ins.upstream` runs it by
hand. The upstream uses no framework, so that it never limits a measurement: thousands of requests may wait in it.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import uvicorn

from app import open_files
from app.errors import ConfigurationError
from local import child
from local.local_guard import SameOriginGuard
from local.ports import listen

MOST_MS = 10_000
_BACKLOG = 4096
_GRACE_SECONDS = 1
# Longer than any client keeps an idle connection (httpx: 5 s). Otherwise, a client could send a call while the server
# closes the connection.
_KEEP_ALIVE_SECONDS = 75


class RunningUpstream(NamedTuple):
    """A running upstream. `url`, the value for APP_LAB_UPSTREAM_URL, has no path."""

    url: str
    pid: int


@contextmanager
def start(port: int = 0) -> Iterator[RunningUpstream]:
    """Runs an upstream inside the context. `port`: 0 for a free port. Raises ConfigurationError if it cannot start."""
    failure = f"the lab's upstream did not start on port {port}"
    with child.start("lab.stand_ins.upstream", ["--port", str(port), "--json"], failure) as started:
        yield RunningUpstream(started.ready["url"], started.pid)


async def wait(scope: Any, receive: Any, send: Any) -> None:
    """Answers a request after `ms` milliseconds, or with 400 if `ms` is not a whole number from 0 to MOST_MS."""
    ms = parse_qs(scope["query_string"].decode("latin-1")).get("ms", ["0"])[0]
    if not (ms.isascii() and ms.isdigit()) or len(ms) > len(str(MOST_MS)) or int(ms) > MOST_MS:
        await _answer(send, 400, {"error": f"ms={ms[:20]}: allowed is 0 to {MOST_MS:,}"})
        return
    await asyncio.sleep(int(ms) / 1000)
    await _answer(send, 200, {"waited_ms": int(ms)})


async def _answer(send: Any, status: int, content: dict[str, Any]) -> None:
    body = json.dumps(content).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def main() -> None:
    parser = argparse.ArgumentParser("python -m lab.stand_ins.upstream", description="A slow upstream for the lab.")
    parser.add_argument("--port", type=int, default=8003, help="0 picks a free one (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the address as JSON")
    options = parser.parse_args()
    # Each request that waits is an open connection.
    open_files.raise_limit()
    try:
        listener = listen("127.0.0.1", options.port, "the lab's upstream", _BACKLOG)
    except ConfigurationError as error:
        sys.exit(f"error: {error}")
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    # The socket already listens. A client that connects before the server accepts is not refused, but waits.
    sys.stdout.write((json.dumps({"url": url}) if options.json else f"The lab's upstream on {url}") + "\n")
    sys.stdout.flush()
    config = uvicorn.Config(
        SameOriginGuard(wait),
        interface="asgi3",
        lifespan="off",
        log_level="error",
        access_log=False,
        ws="none",
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
