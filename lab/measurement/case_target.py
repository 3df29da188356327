"""The request of a case, which the load generator vegeta repeats."""

import base64
import json
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from local.sample_events import default_file


@dataclass(frozen=True)
class Target:
    """One request. `url` includes the query; `body` is sent as JSON."""

    method: str
    url: str
    body: bytes = b""

    # vegeta reads the request once and repeats it. With these options, vegeta stores no bodies of answers. Bodies of
    # 100 kB each would fill the disk.
    options = ("-max-body", "0")

    def feed(self, pipe: IO[bytes]) -> threading.Thread:
        """Starts a thread that writes the request to `pipe`: see `loadtest.fire.vegeta.Targets`."""
        target: dict[str, Any] = {"method": self.method, "url": self.url}
        if self.body:
            encoded = base64.b64encode(self.body).decode()
            target |= {"body": encoded, "header": {"Content-Type": ["application/json"]}}
        thread = threading.Thread(target=_write, args=(pipe, json.dumps(target).encode() + b"\n"), daemon=True)
        thread.start()
        return thread


def event() -> bytes:
    """Returns the event that the load test sends, as JSON."""
    return default_file().read_bytes()


def _write(pipe: IO[bytes], line: bytes) -> None:
    with suppress(BrokenPipeError):
        pipe.write(line)
    with suppress(BrokenPipeError):
        pipe.close()
