"""Streams webhooks with distinct ids to vegeta, and keeps the digest of each webhook."""

import base64
import http.client
from collections.abc import Iterator
from hashlib import md5

from loadtest.fire.http_request import Request
from local.sample_events import default_file, fresh_events

PATH = "/webhooks/chargebee"
ENDLESS = 62**6  # the number of ids that fresh_events can generate


def digest(body: bytes) -> bytes:
    """Returns the body's MD5. Traffic keeps it instead of the body, so that 240,000 webhooks fit into memory."""
    return md5(body, usedforsecurity=False).digest()


class Traffic(Request):
    """The webhooks in `bodies` or, if `bodies` is None, webhooks of the default size with new ids.

    `sent`: the digest of each webhook by event id, including a few that vegeta has read but did not send.
    """

    options = ("-lazy",)  # without -max-body, because the responses contain the event ids for the audit

    def __init__(self, url: str, username: str, password: str, bodies: Iterator[bytes] | None = None) -> None:
        credentials = base64.b64encode(f"{username}:{password}".encode()).decode()
        headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
        template = default_file().read_bytes()
        super().__init__("POST", url.rstrip("/").removesuffix(PATH) + PATH, headers, template)
        self.sent: dict[str, bytes] = {}
        self._bodies = bodies or fresh_events(template, ENDLESS)

    def bodies(self) -> Iterator[bytes]:
        """Yields the next webhooks, and adds each to `sent`."""
        for body in self._bodies:
            # The id is the first field. Parsing the whole body would cost more CPU than sending it.
            event_id = body[body.index(b'"id": "') + 7 :].partition(b'"')[0].decode()
            self.sent[event_id] = digest(body)
            self.number += 1
            yield body

    def is_success(self, status: int) -> bool:
        """Returns True for 200, because Chargebee accepts no other status."""
        return status == http.client.OK

    def is_healthy(self, status: int) -> bool:
        return status == http.client.OK
