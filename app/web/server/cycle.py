"""The one place that writes to uvicorn's insides: the cycle of a request and its response, one on each protocol.

Read in uvicorn 0.54 (protocols/http/httptools_impl.py and h11_impl.py: RequestResponseCycle), which offers no bound on
heads, bodies and time of a connection (https://github.com/Kludex/uvicorn/issues/157) and no method for any of this.
"""

from typing import Any


def close_after(cycle: Any) -> None:
    """Its response is the connection's last one."""
    cycle.keep_alive = False


def abandon(cycle: Any) -> None:
    """Its response cannot be written: the application sees a client that has disconnected."""
    cycle.disconnected = True
    cycle.message_event.set()


def drop_body(cycle: Any) -> None:
    """What the application has not read of the body is not kept."""
    cycle.body = bytearray()


def end_body(cycle: Any) -> None:
    """The body is complete: uvicorn itself says so only while the response is not."""
    cycle.more_body = False
