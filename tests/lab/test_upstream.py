"""The lab's slow upstream: what it answers, and when its process ends."""

import asyncio
import signal
import socket
import subprocess
import sys
import textwrap

import httpx
import psutil
import pytest

from app.errors import ConfigurationError
from lab.stand_ins.upstream import start
from tests.harness.processes import alive

MANY = 2000
PARENT = textwrap.dedent("""
    import sys
    from lab.stand_ins.upstream import start
    with start() as upstream:
        print(upstream.pid, flush=True)
        sys.stdin.read()
""")


def test_it_answers() -> None:
    """An answer says how many milliseconds it waited, and the upstream listens on loopback only."""
    with start() as upstream:
        for query, waited in (("", 0), ("?ms=0", 0), ("?ms=30", 30), ("?ms=5&ms=9", 5)):
            answer = httpx.get(f"{upstream.url}/{query}", timeout=60)
            assert (answer.status_code, answer.json()) == (200, {"waited_ms": waited})
        sockets = psutil.Process(upstream.pid).net_connections("inet")
    assert {each.laddr.ip for each in sockets if each.status == psutil.CONN_LISTEN} == {"127.0.0.1"}


def test_out_of_bounds() -> None:
    """The answer is a 400 that names the value and what is allowed."""
    with start() as upstream:
        for ms in ("-1", "10001", "1e3", "soon", "9" * 5000, "²"):
            answer = httpx.get(upstream.url, params={"ms": ms}, timeout=60)
            assert (answer.status_code, answer.json()) == (400, {"error": f"ms={ms[:20]}: allowed is 0 to 10,000"})


async def ask(url: str) -> bytes:
    """Sends a request on a connection of its own, and returns the status line."""
    reader, writer = await asyncio.open_connection(*url.removeprefix("http://").split(":"))
    writer.write(b"GET /?ms=2000 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return answer.partition(b"\r\n")[0]


@pytest.mark.anyio
async def test_thousands_wait_at_the_same_time() -> None:
    """Each of 2,000 requests gets its answer."""
    with start() as upstream:
        answers = await asyncio.gather(*(ask(upstream.url) for _ in range(MANY)))
    assert set(answers) == {b"HTTP/1.1 200 OK"}


def test_it_ends_when_its_parent_is_killed() -> None:
    """The upstream ends when the pipe from its parent ends."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        parent.wait(60)
        assert alive([child]) == []


def test_a_port_that_is_taken(capfd: pytest.CaptureFixture[str]) -> None:
    """The error names the port, and the upstream itself writes only one line, with the reason."""
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(ConfigurationError, match=f"did not start on port {taken.getsockname()[1]}"),
        start(taken.getsockname()[1]),
    ):
        pass
    [line] = capfd.readouterr().err.splitlines()
    assert "Address already in use" in line


def test_by_hand() -> None:
    """The command prints its address in one line, and serves until SIGTERM."""
    command = [sys.executable, "-u", "-m", "lab.stand_ins.upstream", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("The lab's upstream on http://127.0.0.1:")
        assert httpx.get(line.split()[-1], timeout=60).json() == {"waited_ms": 0}
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in {0, -signal.SIGTERM}
