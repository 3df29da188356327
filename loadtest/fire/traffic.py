"""Webhooks with distinct ids, streamed to vegeta, and the digest of each."""

import base64
import http.client
from collections.abc import Iterator
from hashlib import md5

from loadtest.fire.http_request import Request
from local.sample_events import default_file, fresh_events

PATH = "/webhooks/chargebee"
ENDLESS = 62**6  # the number of ids that fresh_events can generate


def digest(body: bytes) -> bytes:
    """Returns the MD5 that is kept instead of a body, so that 240,000 fit into memory. SQS also answers with MD5s."""
    return md5(body, usedforsecurity=False).digest()


class Traffic(Request):
    """Fresh webhooks of the default size, or `bodies`.

    `sent` has the digest of each, by event id, also of a few that vegeta read last and did not send.
    """

    options = ("-lazy",)  # the answers have the event ids

    def __init__(self, url: str, username: str, password: str, bodies: Iterator[bytes] | None = None) -> None:
        credentials = base64.b64encode(f"{username}:{password}".encode()).decode()
        headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
        template = default_file().read_bytes()
        super().__init__("POST", url.rstrip("/").removesuffix(PATH) + PATH, headers, template)
        self.sent: dict[str, bytes] = {}
        self._bodies = bodies or fresh_events(template, ENDLESS)

    def bodies(self) -> Iterator[bytes]:
        """The next webhooks; adds each to `sent`."""
        for body in self._bodies:
            # The id is the first field: json.loads of the whole body would cost more CPU than sending it.
            event_id = body[body.index(b'"id": "') + 7 :].partition(b'"')[0].decode()
            self.sent[event_id] = digest(body)
            self.number += 1
            yield body

    def is_success(self, status: int) -> bool:
        """Returns True for 200, which is all that Chargebee accepts."""
        return status == http.client.OK

    def is_healthy(self, status: int) -> bool:
        return status == http.client.OK
