"""Runs the stand-in for SQS, a Go program that is fast enough not to limit a load test: see loadtest/sqs/main.go."""

import json
import ssl
import subprocess
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from loadtest.record.folders import ROOT
from local.child import first_line
from local.ports import free_port
from local.tls import Certificates

SOURCES = ROOT / "loadtest" / "sqs"
BINARY = SOURCES / "bin" / "sqs"


def launch(tls: Certificates | None, port: int, *options: str) -> "tuple[subprocess.Popen[bytes], str]":
    """Starts the stand-in. Returns its process and its endpoint.

    The process ends when the calling process ends. Raises the errors of `StandIn.start`.
    """
    command = [str(BINARY), "-exit-with-stdin", f"-port={port}", *options]
    if tls is not None:
        command += [f"-cert={tls.certificate}", f"-key={tls.key}"]
    # In a new session, because Ctrl-C in the terminal must not end the queue, which the service still needs.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    try:
        line = first_line(process.stdout)
    except TimeoutError:
        process.kill()
        raise
    if not line:
        raise ChildProcessError(f"{BINARY.name} ended with {process.wait()}")
    return process, json.loads(line)["endpoint"]


@dataclass(frozen=True)
class Digests:
    """Counts of the messages that a queue has stored.

    `bodies` maps the MD5 of each body, in hex, to the number of messages with this body. `attributes` maps each
    MD5OfMessageAttributes to the number of messages that have it. A message without attributes has the MD5 of an
    empty text.
    """

    count: int
    bodies: dict[str, int]
    attributes: dict[str, int]


class StandIn:
    """The stand-in's process. After `kill` and `start`, it has the same port, but no queues.

    `make loadtest/sqs/bin/sqs` builds the binary, and needs Go.
    Without `bodies`, the process stores no bodies: a message takes 32 bytes, and ReceiveMessage is not supported.
    """

    name = "SQS stand-in"

    def __init__(self, *, bodies: bool = True, tls: Certificates | None = None) -> None:
        self._bodies, self._tls = bodies, tls
        self._process: subprocess.Popen[bytes] | None = None
        self._port = free_port()  # a port that no outgoing connection can take after `kill`: see `local.ports`

    def start(self) -> None:
        """Starts the process, and returns when it listens.

        Raises FileNotFoundError if the binary is not built, ChildProcessError if the process ends instead of listening,
        and TimeoutError if it does not listen in time.
        """
        self._process, self.endpoint = launch(self._tls, self._port, f"-bodies={str(self._bodies).lower()}")
        self._port = urlsplit(self.endpoint).port or 0

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        if self._process is not None:
            with self._process as process:
                process.kill()
            self._process = None

    def digests(self, queue: str) -> Digests:
        """Returns counts of the messages in `queue`, a name or a URL. Raises HTTPError for an unknown queue."""
        return Digests(**self._ask("GET", f"messages?queue={quote(queue, safe='')}"))

    def faults(self, **planted: float | bool | str) -> dict[str, Any]:
        """Makes the process inject the faults `planted` in place of earlier ones. Returns the settings of all faults.

        Without arguments, the process injects none. loadtest/sqs/faults.go has the names of the faults. Raises
        HTTPError for an unknown name.
        """
        answer: dict[str, Any] = self._ask("PUT", "faults", json.dumps(planted).encode())
        return answer

    def _ask(self, method: str, path: str, data: bytes | None = None) -> Any:
        request = urllib.request.Request(f"{self.endpoint}/_stand-in/{path}", data, method=method)  # noqa: S310  # the URL is ours
        with self._opener().open(request, timeout=60) as answer:
            return json.load(answer)

    def _opener(self) -> urllib.request.OpenerDirector:
        """Returns an opener that ignores the user's proxies and trusts only the CA of the load test."""
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
        if self._tls is not None:
            context = ssl.create_default_context(cafile=self._tls.ca)
            handlers.append(urllib.request.HTTPSHandler(context=context))
        return urllib.request.build_opener(*handlers)
