"""The stack of compose.yaml under a project name of its own, and webhooks to it."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from loadtest.stage.queues import client
from local.ports import free_port
from local.sample_events import fresh_events
from tests.deploy.rendering import ROOT
from tests.harness import queues

USERS = 8
# Free ports, and a shorter time-out than 10 s.
OVERRIDE = """
services:
  web: {{ ports: !override ["127.0.0.1:{web}:8000"], environment: {{ APP_SQS_TIMEOUT: "2" }} }}
  chargebee: {{ ports: !override ["127.0.0.1:{chargebee}:8002"] }}
  toxiproxy: {{ ports: !override ["127.0.0.1:{toxiproxy}:8474"] }}
  sqs: {{ ports: !override ["127.0.0.1:{sqs}:9324"] }}
"""


def docker(*command: str) -> str:
    """Runs a Docker command and returns its output. Raises AssertionError with Docker's error."""
    ended = subprocess.run(["docker", *command], capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


class Stack:
    """The stack of compose.yaml, under its own project name."""

    def __init__(self, folder: Path) -> None:
        ports = {service: free_port() for service in ("web", "toxiproxy", "sqs", "chargebee")}
        override = folder / "override.yaml"
        override.write_text(OVERRIDE.format(**ports), encoding="utf-8")
        self.name = f"invoice-webhook-test-{os.getpid()}"
        self._files = [f"--file={ROOT / 'compose.yaml'}", f"--file={override}", f"--project-name={self.name}"]
        self.url, self._toxics, self._sqs, self.chargebee = (f"http://127.0.0.1:{port}" for port in ports.values())

    def compose(self, *command: str) -> str:
        return docker("compose", *self._files, *command)

    def web(self) -> Any:
        """`docker inspect` of the service's container."""
        (found,) = json.loads(docker("inspect", f"{self.name}-web-1"))
        return found

    def post(self, body: bytes) -> httpx.Response:
        return httpx.post(f"{self.url}/webhooks/chargebee", content=body, auth=("demo", "demo"), timeout=30)

    @contextmanager
    def slow(self, seconds: float) -> Iterator[None]:
        """Delays every response of the queue."""
        toxic = {"name": "slow", "type": "latency", "attributes": {"latency": round(seconds * 1000)}}
        httpx.post(f"{self._toxics}/proxies/sqs/toxics", json=toxic, timeout=60).raise_for_status()
        try:
            yield
        finally:
            httpx.delete(f"{self._toxics}/proxies/sqs/toxics/slow", timeout=60).raise_for_status()

    def taken(self) -> list[bytes]:
        """Drains the queue and returns its messages."""
        sqs = client(self._sqs)
        bodies = [body for body, _ in queues.drain(sqs, f"{self._sqs}/000000000000/invoice-webhooks")]
        sqs.close()
        return bodies

    @contextmanager
    def load(self, template: bytes) -> Iterator[set[bytes]]:
        """Posts webhooks with concurrent users. Yields the set to which they add the bodies that got 200."""
        accepted: set[bytes] = set()
        over = threading.Event()

        def user() -> None:
            for body in fresh_events(template, 1_000_000):
                if over.is_set():
                    return
                with suppress(httpx.TransportError):
                    if self.post(body).status_code == httpx.codes.OK:
                        accepted.add(body)

        with ThreadPoolExecutor(USERS) as pool:
            users = [pool.submit(user) for _ in range(USERS)]
            try:
                time.sleep(1)
                yield accepted
            finally:
                over.set()
        assert all(user.exception() is None for user in users)
