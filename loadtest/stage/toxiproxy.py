"""toxiproxy in front of a queue: latency and other faults of a network."""

import http.client
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from app.local.process import is_listening, wait_until_ready
from loadtest.stage.ports import free_port
from loadtest.stage.queues import START_SECONDS

Toxic = tuple[str, dict[str, float]]


def latency(seconds: float, jitter: float = 0) -> Toxic:
    """Delays every response by `seconds` ± `jitter`."""
    return "latency", {"latency": round(seconds * 1000), "jitter": round(jitter * 1000)}


@contextmanager
def proxy(upstream: str, toxics: list[Toxic]) -> Iterator[str]:
    """A proxy for `upstream` (scheme://host:port) with `toxics` on what it sends back; yields its own address.

    It forwards TCP: the TLS is the upstream's, and handshakes have the latency, too.

    Raises ValueError for a toxic that toxiproxy rejects.
    """
    api, port = free_port(), free_port()
    parts = urlsplit(upstream)
    command = ["toxiproxy-server", "-host", "127.0.0.1", "-port", str(api)]
    # A session of its own: Ctrl-C in the terminal must not end the proxy before the service has drained.
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_until_ready(process, lambda: is_listening(api), START_SECONDS)
        address = f"127.0.0.1:{port}"
        _call(api, "/proxies", {"name": "sqs", "listen": address, "upstream": parts.netloc})
        for number, (kind, attributes) in enumerate(toxics):
            toxicity = attributes.get("toxicity", 1.0)
            rest = {name: value for name, value in attributes.items() if name != "toxicity"}
            toxic = {"name": f"{kind}-{number}", "type": kind, "toxicity": toxicity, "attributes": rest}
            _call(api, "/proxies/sqs/toxics", toxic)
        yield f"{parts.scheme}://{address}"
    finally:
        process.kill()
        process.wait()


def _call(port: int, path: str, data: dict[str, Any]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("POST", path, json.dumps(data), {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read().decode()
        if response.status not in (http.client.OK, http.client.CREATED):
            raise ValueError(f"toxiproxy rejects {data}: {answer.strip()}")
    finally:
        connection.close()
