"""The only module that writes to uvicorn's internals: the cycle of a request and its response.

This follows uvicorn 0.54 (RequestResponseCycle in protocols/http/httptools_impl.py and h11_impl.py). uvicorn has no
limits on heads, bodies and the time of a connection (https://github.com/Kludex/uvicorn/issues/157), and no methods for
what these functions do.
"""

from typing import Any


def close_after(cycle: Any) -> None:
    """Makes uvicorn close the connection after the response of `cycle`."""
    cycle.keep_alive = False


def abandon(cycle: Any) -> None:
    """Tells the application that the client has disconnected, because the response cannot be written."""
    cycle.disconnected = True
    cycle.message_event.set()


def drop_body(cycle: Any) -> None:
    """Frees the part of the body that the application has not read."""
    cycle.body = bytearray()


def end_body(cycle: Any) -> None:
    """Marks the body as complete. uvicorn does this only if the response is not complete yet."""
    cycle.more_body = False
