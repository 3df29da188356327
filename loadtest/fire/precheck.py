"""Correctness before speed: one webhook before the attack must get 200 and be in the queue."""

import http.client
from urllib.parse import urlsplit

from loadtest.fire.arrivals import Arrivals
from loadtest.fire.traffic import Traffic


class PreCheckFailed(Exception):
    """The webhook before the attack did not get 200, or is not in the queue."""


def check_one(traffic: Traffic, arrivals: Arrivals | None) -> None:
    """Sends one webhook; without `arrivals`, only its 200 is checked. Raises PreCheckFailed."""
    body = next(traffic.bodies())
    event_id, digest = traffic.sent.popitem()
    parts = urlsplit(traffic.url)
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = connect(parts.netloc, timeout=30)
    try:
        connection.request("POST", parts.path, body, traffic.headers)
        response = connection.getresponse()
        answer = response.read(1000).decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        raise PreCheckFailed(f"{traffic.url}: {error!r}") from None
    finally:
        connection.close()
    if response.status != http.client.OK:
        raise PreCheckFailed(f"{traffic.url} answered {response.status}: {answer}")
    if arrivals is not None:
        arrivals.wait(lambda received: digest in received)
        if arrivals.forget(digest) != 1:
            raise PreCheckFailed(f"{event_id} got 200 and is not in the queue exactly once, as sent")
