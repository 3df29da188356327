"""Changes a `cycle`: the object in which uvicorn stores the state of a request and its response.

The functions set private state of uvicorn 0.54 (RequestResponseCycle in
protocols/http/httptools_impl.py), because uvicorn has no methods for these changes. No other module sets this state.
"""

from typing import Any

from uvicorn.protocols.http.flow_control import CLOSE_HEADER


def close_after(cycle: Any) -> None:
    """Makes uvicorn close the connection after the response of `cycle`.

    Because of the header, a response lingers if the body has not arrived.
    """
    cycle.keep_alive = False
    if hasattr(cycle, "scope"):  # an exchange has none
        cycle.scope["headers"].append(CLOSE_HEADER)


def abandon(cycle: Any) -> None:
    """Makes the application receive `http.disconnect`, because the server can no longer send the response."""
    cycle.disconnected = True
    cycle.message_event.set()


def drop_body(cycle: Any) -> None:
    """Frees the bytes of the body that the application has not read."""
    cycle.body = bytearray()


def drop_head(cycle: Any) -> None:
    """Frees the head of a request whose response is complete. The application keeps its own reference to the scope."""
    if hasattr(cycle, "scope"):  # an exchange has none
        cycle.scope = {}


def end_body(cycle: Any) -> None:
    """Marks the request's body as complete. uvicorn itself does not do so after the end of the response."""
    cycle.more_body = False
