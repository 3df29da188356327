"""Changes uvicorn's cycle, the object that stores the state of a request and its response. No other module does so.

The functions match uvicorn 0.54 (RequestResponseCycle in protocols/http/httptools_impl.py and h11_impl.py). uvicorn has
no methods for these changes. It also has no limits on heads, on bodies and on the time of a connection
(https://github.com/Kludex/uvicorn/issues/157).
"""

from typing import Any


def close_after(cycle: Any) -> None:
    """Makes uvicorn close the connection after the response of `cycle`."""
    cycle.keep_alive = False


def abandon(cycle: Any) -> None:
    """Makes the application receive a disconnect, because the server cannot write the response."""
    cycle.disconnected = True
    cycle.message_event.set()


def drop_body(cycle: Any) -> None:
    """Frees the bytes of the body that the application has not read."""
    cycle.body = bytearray()


def end_body(cycle: Any) -> None:
    """Marks the body as complete. uvicorn itself does so only while the response is incomplete."""
    cycle.more_body = False
