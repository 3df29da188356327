"""Sends the requests of `--send`: `python load.py HOST PORT AT_ONCE`, with the requests as JSON on standard input.

Sends each request twice, one after the other, and then AT_ONCE times concurrently. The time-out of the first two is
10 s. The time-out of the others is 10 s plus the time that they would take one after another, but at most 60 s. Later
requests send the cookies of earlier responses. In the path and the headers of a later request, the script replaces
`{name}` with the value of `name` in an earlier response that is a JSON object. The exit code is 1 if any
request gets only errors as responses.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, NamedTuple

ALONE = 2
AT_ONCE = 50  # more than the 40 threads of AnyIO's pool
SECONDS = 10.0
MOST_SECONDS = 60.0
_MOST_BYTES = 1_000_000  # about this much of a response's body is kept, to find values in it


class Request(NamedTuple):
    """A request of --send. Without a Content-Type header, valid JSON is sent as JSON, and any other body as a form."""

    method: str
    path: str
    headers: Sequence[Sequence[str]] = ()
    body: str = ""


def send_all(host: str, port: int, at_once: int, requests: Sequence[Request], say: Callable[[str], None]) -> int:
    """Runs this file as a process, which sends the requests. `say` receives each output line. Returns the exit code."""
    command = [sys.executable, "-P", __file__, host, str(port), str(at_once)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as sending:
        assert sending.stdin is not None
        assert sending.stdout is not None
        with sending.stdin as written:  # not as arguments, which other users can see: a header may be secret
            written.write(json.dumps(requests))
        for line in sending.stdout:
            say(line.rstrip())
    return sending.returncode


class Client:
    """Sends requests to one server, with the cookies and the JSON values of earlier responses."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._cookies: dict[str, str] = {}
        self._values: dict[str, Any] = {}

    def send(self, request: Request, patience: float) -> str:
        """Sends one request and reads the whole response, for at most `patience` seconds.

        Returns the status, or the reason why the response is missing or incomplete.
        """
        status, body, latest = "", b"", time.monotonic() + patience
        connection = HTTPConnection(self._host, self._port, timeout=patience)
        try:
            headers = self._headers(request)
            connection.request(request.method, self._filled(request.path), request.body.encode() or None, headers)
            answer = connection.getresponse()
            status = str(answer.status)
            while part := answer.read1(65536):
                body += part if len(body) < _MOST_BYTES else b""
                if time.monotonic() > latest:
                    raise TimeoutError
            self._learn(answer, body)
        except TimeoutError:
            return f"{status} without an end in {patience:.0f} s" if status else f"no answer in {patience:.0f} s"
        except (OSError, HTTPException, ValueError) as error:
            return f"{status} without its end" if status else str(error) or type(error).__name__
        finally:
            connection.close()
        return status

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {name.title(): self._filled(value) for name, value in request.headers}
        if request.body:
            form = _json(request.body.encode()) is None
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded" if form else "application/json")
        if self._cookies:
            headers.setdefault("Cookie", "; ".join(f"{name}={value}" for name, value in self._cookies.items()))
        return headers

    def _filled(self, text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda name: str(self._values.get(name[1], name[0])), text)

    def _learn(self, answer: HTTPResponse, body: bytes) -> None:
        pairs = (cookie.partition(";")[0].partition("=") for cookie in answer.headers.get_all("Set-Cookie", []))
        self._cookies |= {name: value for name, _, value in pairs}
        found = _json(body)
        self._values |= found if isinstance(found, dict) else {}


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def main(host: str, port: int, at_once: int, requests: list[Request]) -> int:
    """Sends the requests, prints the number of responses with each status, and returns the exit code."""
    failed, client = False, Client(host, port)
    for request in requests:
        began = time.monotonic()
        answers = [client.send(request, SECONDS) for _ in range(ALONE)]
        alone = (time.monotonic() - began) / ALONE
        # If a request blocks the loop, concurrent requests are answered one after another.
        patience = min(SECONDS + alone * at_once, MOST_SECONDS) if alone < SECONDS else SECONDS
        with ThreadPoolExecutor(at_once) as threads:
            answers += threads.map(client.send, [request] * at_once, [patience] * at_once)
        counts = ", ".join(f"{answers.count(answer)} × {answer}" for answer in sorted(set(answers)))
        print(f"sent {request.method} {request.path}: {counts}", flush=True)  # noqa: T201  # the command's output
        failed |= not any(answer[:1] in ("2", "3") for answer in answers)
    return int(failed)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a pipe to the doctor, which decodes it
    wanted = [Request(*one) for one in json.loads(sys.stdin.buffer.read())]
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), wanted))
