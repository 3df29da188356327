"""Sends one request before the attack. Checks that it succeeds and, in an audited attack, that its message arrives."""

import http.client
from urllib.parse import urlsplit

from loadtest.fire.arrivals import Arrivals
from loadtest.fire.http_request import Request
from loadtest.fire.traffic import Traffic


class PreCheckFailed(Exception):
    """The request before the attack did not succeed, or its message is not in the queue exactly once."""


def check_one(traffic: Request, arrivals: Arrivals | None) -> None:
    """Sends one request. Raises PreCheckFailed if it does not succeed.

    Unless `arrivals` is None, also raises PreCheckFailed if the request's message is not in the queue exactly once.
    """
    _send(traffic, next(traffic.bodies()))
    if arrivals is not None:
        assert isinstance(traffic, Traffic), "only webhooks arrive in a queue"
        event_id, digest = traffic.sent.popitem()
        arrivals.wait(lambda received: digest in received)
        if arrivals.forget(digest) != 1:
            raise PreCheckFailed(f"{event_id} got 200 and is not in the queue exactly once, as sent")


def _send(traffic: Request, body: bytes) -> None:
    """Sends the request. Raises PreCheckFailed if it does not succeed."""
    parts = urlsplit(traffic.url)
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = connect(parts.netloc, timeout=30)
    try:
        target = parts._replace(scheme="", netloc="").geturl() or "/"
        connection.request(traffic.method, target, body or None, traffic.headers)
        response = connection.getresponse()
        answer = response.read(1000).decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        raise PreCheckFailed(f"{traffic.url}: {error!r}") from None
    finally:
        connection.close()
    if not traffic.is_success(response.status):
        elsewhere = response.getheader("Location")
        raise PreCheckFailed(f"{traffic.url} answered {response.status}: {elsewhere or answer}")
