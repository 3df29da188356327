"""attack.sh on a service that is none of this project's."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import httpx
import pytest

from loadtest.stage.here import is_here
from local.ports import START_SECONDS, free_port
from local.readiness import is_listening, wait_until_ready
from tests.loadtest.any_service import KEY
from tests.loadtest.attacks import ROOT, attack, meta

BODY = '{"id": {{id}}, "note": "order {{id}}"}'


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """Yields the URL of the service, which runs in a process of its own."""
    port = free_port()
    with subprocess.Popen([sys.executable, "-m", "tests.loadtest.any_service", str(port)], cwd=ROOT) as process:
        try:
            wait_until_ready(process, lambda: is_listening(port), START_SECONDS)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def test_a_body_with_ids_and_a_header(service: str, tmp_path: Path) -> None:
    """Each request has the header and an id of its own. There are a picture and a sentence, and no audit."""
    (tmp_path / "body.json").write_text(BODY, encoding="utf-8")
    out = tmp_path / "out"
    ended = attack(
        *("--url", f"{service}/orders/", "--body", str(tmp_path / "body.json"), "--header", f"X-Key: {KEY}"),
        *("--header", "content-type: application/json"),
        *("--rate", "20", "--duration", "1s", "--out", str(out)),
    )
    assert ended.returncode == 0, ended.stderr
    measured = meta(out)
    assert measured["request"] == "POST /orders/"
    assert measured["statuses"] == {"201": measured["requests"]}
    assert measured["accepted"] == measured["requests"] > 0
    created = httpx.get(f"{service}/orders/").json()
    assert created["all"] == created["distinct"] == measured["requests"] + 1  # the check before the attack
    assert "audit" not in ended.stdout
    assert "/healthz, on a new connection each: " in ended.stdout
    assert measured["busiest"] is not None
    drawn = (out / "requests.svg").read_text(encoding="utf-8")
    assert ET.fromstring(drawn).tag.endswith("svg")  # noqa: S314  # made a moment ago, by us
    assert drawn.count("h0") == measured["requests"]
    assert not any(KEY.encode() in file.read_bytes() for file in out.iterdir())


@pytest.mark.slow
def test_a_planted_blocking_handler_is_named(service: str, tmp_path: Path) -> None:
    """A handler that blocks the event loop makes probes slow at a low CPU usage, and the sentence says so."""
    ended = attack("--url", f"{service}/blocking", "--rate", "30", "--duration", "2s", "--out", str(tmp_path))
    assert ended.returncode == 0, ended.stderr
    [line] = [line for line in ended.stdout.splitlines() if line.startswith("Answers wait for each other: ")]
    assert "a call blocks the event loop or every worker: see docs/questions/blocking.md" in line


def test_a_redirect_is_not_followed(service: str, tmp_path: Path) -> None:
    """A redirect may lead to another machine. The error names where it leads."""
    ended = attack("--url", f"{service}/orders", "--out", str(tmp_path))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"{service}/orders answered 307: {service}/orders/" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--body", "order.json"), "--method, --body, --header, --health: without --url, the attack sends webhooks"),
        (("--url", "http://127.0.0.1:1", "--header", "s3cret"), "argument --header: allowed is 'NAME: VALUE'"),
        (
            ("--url", "http://127.0.0.1:1/orders", "--queue-url", "http://127.0.0.1:2/q"),
            "only webhooks of this project",
        ),
        (("--url", "http://127.0.0.1:1", "--body", "/no/file"), "No such file or directory: '/no/file'"),
        (("--url", "http://192.0.2.1/orders"), "this is not an address of this machine"),  # RFC 5737: nobody's
    ],
)
def test_failures_are_one_line(arguments: tuple[str, ...], error: str, tmp_path: Path) -> None:
    """The exit code is 2, no value of a header is printed, and nothing is sent to another machine."""
    ended = attack(*arguments, "--out", str(tmp_path))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert error in ended.stderr
    assert "s3cret" not in ended.stderr


def test_which_addresses_are_here() -> None:
    """Loopback addresses are here, with any port; an address of nobody is not."""
    assert all(is_here(f"http://{host}:8000/x") for host in ("127.0.0.1", "127.1.2.3", "[::1]", "localhost"))
    assert not is_here("http://192.0.2.1:8000")
    assert not is_here("https://[2001:db8::1]")
