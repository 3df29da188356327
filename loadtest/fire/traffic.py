"""Webhooks with distinct ids, streamed to vegeta, and the digest of each."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from hashlib import md5
from itertools import islice
from typing import IO

from app.local.sample_events import default_file, fresh_events

PATH = "/webhooks/chargebee"
ENDLESS = 62**6  # the number of ids that fresh_events can generate


def digest(body: bytes) -> bytes:
    """Kept instead of the body, so that 240,000 of them fit into memory. MD5, as in SQS's answers."""
    return md5(body, usedforsecurity=False).digest()


class Traffic:
    """Fresh webhooks of the default size; `sent` has the digest of each, by event id."""

    def __init__(self, url: str, username: str, password: str) -> None:
        self.sent: dict[str, bytes] = {}
        self.url = url.rstrip("/").removesuffix(PATH) + PATH
        credentials = base64.b64encode(f"{username}:{password}".encode()).decode()
        self.headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
        template = default_file().read_bytes()
        self.body_bytes = len(template)
        self._bodies = fresh_events(template, ENDLESS)

    def bodies(self, count: int) -> Iterator[bytes]:
        """The next `count` webhooks (0: no limit); adds each to `sent`."""
        for body in islice(self._bodies, count or None):
            # The id is the first field: json.loads of the whole body would cost more CPU than sending it.
            event_id = body[body.index(b'"id": "') + 7 :].partition(b'"')[0].decode()
            self.sent[event_id] = digest(body)
            yield body

    def feed(self, pipe: IO[bytes], count: int) -> threading.Thread:
        """Starts a thread that writes targets in vegeta's JSON format until vegeta closes the pipe."""
        thread = threading.Thread(target=self._write, args=(pipe, count), daemon=True)
        thread.start()
        return thread

    def _write(self, pipe: IO[bytes], count: int) -> None:
        target = {"method": "POST", "url": self.url, "header": {name: [value] for name, value in self.headers.items()}}
        start = json.dumps(target)[:-1].encode() + b', "body": "'
        with suppress(BrokenPipeError):
            for body in self.bodies(count):
                pipe.write(start + base64.b64encode(body) + b'"}\n')
        with suppress(BrokenPipeError):
            pipe.close()
