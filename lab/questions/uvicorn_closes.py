"""Question: clients get resets and refusals, but the service logs nothing. When does uvicorn close connections?

    python -m lab.questions.uvicorn_closes idle        one kept-alive connection, idle for 4 s and then for 6 s
    python -m lab.questions.uvicorn_closes stopping    a request in flight and a new connection, after SIGTERM

What to expect: uvicorn closes a connection that was idle for five seconds. At SIGTERM, uvicorn closes its listener: it
answers the request in flight, but the new connection is refused.
"""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPException
from typing import Any

from local.child import child_process
from local.ports import START_SECONDS, free_port
from local.readiness import is_listening, wait_until_ready

SLOW_S = 2.0


async def app(
    scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[dict[str, Any]], Awaitable[None]]
) -> None:
    """Answers `/slow` after SLOW_S, and any other path at once."""
    if scope["path"] == "/slow":
        await asyncio.sleep(SLOW_S)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


def idle() -> Iterator[str]:
    with _uvicorn() as (_, port), closing(HTTPConnection("127.0.0.1", port)) as connection:
        yield f"a new connection: {_answer(connection)}"
        for seconds in (4, 6):
            time.sleep(seconds)
            yield f"the same connection, after {seconds} s without a request: {_answer(connection)}"


def stopping() -> Iterator[str]:
    connect = partial(HTTPConnection, "127.0.0.1")
    with _uvicorn() as (stop, port), closing(connect(port)) as old, closing(connect(port)) as new:
        old.request("GET", "/slow")
        time.sleep(SLOW_S / 4)
        stop()
        time.sleep(SLOW_S / 4)
        yield f"a new connection after SIGTERM: {_answer(new)}"
        yield f"the request in flight: {old.getresponse().status}"


def _answer(connection: HTTPConnection) -> str:
    """Sends a request. Returns the status of the response, or the error that the client gets."""
    try:
        connection.request("GET", "/")
        with connection.getresponse() as response:
            return str(response.status)
    except (HTTPException, OSError) as error:
        return f"{type(error).__name__}: {error}"


@contextmanager
def _uvicorn() -> Iterator[tuple[Callable[[], None], int]]:
    """Runs uvicorn with its default settings. Yields two values: a function that sends SIGTERM, and uvicorn's port."""
    port = free_port()
    command = ["uvicorn", f"{__spec__.name}:app", "--port", str(port), "--log-level", "warning"]
    with child_process(command, os.environ, 2 * SLOW_S) as process:
        wait_until_ready(process, partial(is_listening, port), START_SECONDS)
        yield process.terminate, port


if __name__ == "__main__":
    for line in {"idle": idle, "stopping": stopping}[sys.argv[1]]():
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
