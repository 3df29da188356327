"""The one place that writes to uvicorn's internals: the cycle of a request and its response, one on each protocol.

Read in uvicorn 0.54 (RequestResponseCycle of protocols/http/httptools_impl.py and h11_impl.py), which has no limits on
heads, bodies and the time of a connection (https://github.com/Kludex/uvicorn/issues/157) and no method for any of this.
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
    """Frees what the application has not read of the body."""
    cycle.body = bytearray()


def end_body(cycle: Any) -> None:
    """The body is complete: uvicorn marks it only before the response is."""
    cycle.more_body = False
