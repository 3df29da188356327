"""Runs toxiproxy in front of a queue: it adds latency and other network faults."""

import http.client
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from local.ports import START_SECONDS, free_port
from local.readiness import is_listening, wait_until_ready

# Only proxies use ports of this range. So no other process takes the port of a proxy while the proxy is disabled.
PORTS = range(12_000, 20_000)

Toxic = tuple[str, dict[str, float]]


def latency(seconds: float, jitter: float = 0) -> Toxic:
    """Returns a toxic (a fault of toxiproxy) that delays every response by `seconds` ± `jitter`."""
    return "latency", {"latency": round(seconds * 1000), "jitter": round(jitter * 1000)}


class Proxy(NamedTuple):
    """A running proxy. `url`: the proxy's address. `api`: the port of toxiproxy's API."""

    url: str
    api: int

    def add(self, name: str, toxic: Toxic) -> None:
        """Adds a toxic to the upstream's responses. Raises ValueError for a toxic that toxiproxy rejects."""
        kind, attributes = toxic
        toxicity = attributes.get("toxicity", 1.0)
        rest = {name: value for name, value in attributes.items() if name != "toxicity"}
        added = {"name": name, "type": kind, "toxicity": toxicity, "attributes": rest}
        _call(self.api, "POST", "/proxies/sqs/toxics", added)

    def remove(self, name: str) -> None:
        _call(self.api, "DELETE", f"/proxies/sqs/toxics/{name}")

    def enable(self, enabled: bool) -> None:
        """Enables or disables the proxy. A disabled proxy closes its connections and refuses new ones."""
        _call(self.api, "POST", "/proxies/sqs", {"enabled": enabled})


@contextmanager
def proxy(upstream: str, toxics: list[Toxic]) -> Iterator[Proxy]:
    """Runs a proxy for `upstream` (scheme://host:port) inside the context, with `toxics` on the upstream's responses.

    The proxy forwards TCP, so the upstream terminates TLS, and toxics apply to handshakes, too. Raises ValueError for
    a toxic that toxiproxy rejects, and ChildProcessError or TimeoutError if toxiproxy does not start.
    """
    api, port = free_port(), free_port(PORTS)
    parts = urlsplit(upstream)
    command = ["toxiproxy-server", "-host", "127.0.0.1", "-port", str(api)]
    # In a new session, because Ctrl-C in the terminal must not end the proxy before the service has drained.
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_until_ready(process, lambda: is_listening(api), START_SECONDS)
        address = f"127.0.0.1:{port}"
        _call(api, "POST", "/proxies", {"name": "sqs", "listen": address, "upstream": parts.netloc})
        made = Proxy(f"{parts.scheme}://{address}", api)
        for number, toxic in enumerate(toxics):
            made.add(f"{toxic[0]}-{number}", toxic)
        yield made
    finally:
        process.kill()
        process.wait()


def _call(port: int, method: str, path: str, data: dict[str, Any] | None = None) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, json.dumps(data), {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read().decode()
        if response.status not in (http.client.OK, http.client.CREATED, http.client.NO_CONTENT):
            raise ValueError(f"toxiproxy rejects {data}: {answer.strip()}")
    finally:
        connection.close()
