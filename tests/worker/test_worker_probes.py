"""The probes' server answers a kubelet, and anyone else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from app.errors import ConfigurationError
from app.worker import worker_probes
from app.worker.worker_probes import Probes, served

pytestmark = pytest.mark.anyio


class Served:
    def __init__(self, port: int, troubles: dict[str, str]) -> None:
        self.port, self.troubles = port, troubles

    async def ask(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        try:
            return await asyncio.wait_for(reader.read(), 60)
        finally:
            writer.close()


@asynccontextmanager
async def _probes() -> AsyncIterator[Served]:
    troubles: dict[str, str] = {}
    probes = Probes(lambda: troubles.get("alive"), lambda: troubles.get("ready"))
    async with served(probes, "127.0.0.1", 0) as (_, port):
        yield Served(port, troubles)


async def test_alive_and_ready() -> None:
    async with _probes() as probes:
        for path, status in (("healthz", b"alive"), ("readyz?probe=1", b"ready")):
            answer = await probes.ask(b"GET /" + path.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert answer.endswith(b'\r\n\r\n{"status": "' + status + b'"}')


async def test_why_not() -> None:
    """The probe answers with a problem, like the web process."""
    async with _probes() as probes:
        probes.troubles["ready"] = "This process is stopping"
        answer = await probes.ask(b"GET /readyz HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"application/problem+json" in answer
        assert b"This process is stopping" in answer
        assert (await probes.ask(b"GET /healthz HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 200 ")


async def test_head_has_no_body() -> None:
    async with _probes() as probes:
        answer = await probes.ask(b"HEAD /healthz HTTP/1.1\r\n\r\n")
        assert b"Content-Length: 19\r\n" in answer
        assert answer.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("request_", "status"),
    [(b"GET / HTTP/1.1", b"404"), (b"POST /healthz HTTP/1.1", b"405"), (b"\xff\x00", b"404"), (b"", b"404")],
)
async def test_anything_else(request_: bytes, status: bytes) -> None:
    async with _probes() as probes:
        assert (await probes.ask(request_ + b"\r\n\r\n"))[9:12] == status


async def test_a_head_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server closes the connection when the head is too long or too slow."""
    monkeypatch.setattr(worker_probes, "HEAD_SECONDS", 0.05)
    async with _probes() as probes:
        assert await probes.ask(b"GET /healthz HTTP/1.1\r\n") == b""
        monkeypatch.setattr(worker_probes, "HEAD_SECONDS", 60)
        with suppress(ConnectionError):  # closed before all of it was read
            assert await probes.ask(b"x" * 100_000) == b""


async def test_a_port_in_use_is_one_clear_line() -> None:
    async with _probes() as probes:
        with pytest.raises(ConfigurationError, match=f"APP_PORT={probes.port}"):
            async with served(Probes(lambda: None, lambda: None), "127.0.0.1", probes.port):
                pass
