"""A request that vegeta sends repeatedly, to any service."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import IO

ID = b"{{id}}"


class Request:
    """A request to any service. In each body, a different number replaces `{{id}}` of the `template`.

    `number`: how many bodies vegeta has read, including a few that it did not send. `health`: the path of the probes.
    """

    # -lazy, because the targets have no end. -redirects -1 (none), because a redirect may lead to another machine.
    # -max-body 0, because response bodies would fill the disk.
    options: tuple[str, ...] = ("-lazy", "-redirects", "-1", "-max-body", "0")

    def __init__(
        self, method: str, url: str, headers: dict[str, str], template: bytes = b"", health: str = "/healthz"
    ) -> None:
        self.method, self.url, self.headers, self.health = method, url, headers, health
        self.body_bytes = len(template)
        self.number = 0
        self._template = template

    def bodies(self) -> Iterator[bytes]:
        """Yields bodies without end, each with a new number instead of `{{id}}`. The numbers differ between runs.

        A number is valid JSON whether or not the template has quotation marks around `{{id}}`.
        """
        for number in count(time.time_ns() // 1000):
            self.number += 1
            yield self._template.replace(ID, str(number).encode())

    def is_success(self, status: int) -> bool:
        """Returns True for 2xx."""
        return status // 100 == 2  # noqa: PLR2004  # the class of successful statuses

    def is_healthy(self, status: int) -> bool:
        """Returns True below 500, because even a 404 for an unknown path shows that the process responds."""
        return status < 500  # noqa: PLR2004  # the first status of the server's errors

    def feed(self, pipe: IO[bytes]) -> threading.Thread:
        """Starts a thread that writes targets in vegeta's JSON format until vegeta closes the pipe.

        The targets must not end before the attack. Otherwise, vegeta would count one request that it did not send.
        """
        thread = threading.Thread(target=self._write, args=(pipe,), daemon=True)
        thread.start()
        return thread

    def _write(self, pipe: IO[bytes]) -> None:
        headers = {name: [value] for name, value in self.headers.items()}
        target = {"method": self.method, "url": self.url, "header": headers}
        start = json.dumps(target)[:-1].encode() + b', "body": "'
        with suppress(BrokenPipeError):
            for body in self.bodies():
                pipe.write(start + base64.b64encode(body) + b'"}\n')
        with suppress(BrokenPipeError):
            pipe.close()
