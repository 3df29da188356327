"""Webhooks with distinct ids, streamed to vegeta, and the digest of each."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from hashlib import md5
from typing import IO

from local.sample_events import default_file, fresh_events

PATH = "/webhooks/chargebee"
ENDLESS = 62**6  # the number of ids that fresh_events can generate


def digest(body: bytes) -> bytes:
    """Returns the MD5 that is kept instead of a body, so that 240,000 fit into memory. SQS also answers with MD5s."""
    return md5(body, usedforsecurity=False).digest()


class Traffic:
    """Fresh webhooks of the default size, or `bodies`.

    `sent` has the digest of each, by event id, also of a few that vegeta read last and did not send.
    """

    options = ("-lazy",)  # its targets have no end

    def __init__(self, url: str, username: str, password: str, bodies: Iterator[bytes] | None = None) -> None:
        self.sent: dict[str, bytes] = {}
        self.url = url.rstrip("/").removesuffix(PATH) + PATH
        credentials = base64.b64encode(f"{username}:{password}".encode()).decode()
        self.headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
        template = default_file().read_bytes()
        self.body_bytes = len(template)
        self._bodies = bodies or fresh_events(template, ENDLESS)

    def bodies(self) -> Iterator[bytes]:
        """The next webhooks; adds each to `sent`."""
        for body in self._bodies:
            # The id is the first field: json.loads of the whole body would cost more CPU than sending it.
            event_id = body[body.index(b'"id": "') + 7 :].partition(b'"')[0].decode()
            self.sent[event_id] = digest(body)
            yield body

    def feed(self, pipe: IO[bytes]) -> threading.Thread:
        """Starts a thread that writes targets in vegeta's JSON format until vegeta closes the pipe.

        The targets must not end before the attack: vegeta would count one more request, which it could not send.
        """
        thread = threading.Thread(target=self._write, args=(pipe,), daemon=True)
        thread.start()
        return thread

    def _write(self, pipe: IO[bytes]) -> None:
        target = {"method": "POST", "url": self.url, "header": {name: [value] for name, value in self.headers.items()}}
        start = json.dumps(target)[:-1].encode() + b', "body": "'
        with suppress(BrokenPipeError):
            for body in self.bodies():
                pipe.write(start + base64.b64encode(body) + b'"}\n')
        with suppress(BrokenPipeError):
            pipe.close()
