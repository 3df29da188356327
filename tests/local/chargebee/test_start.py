"""Tests the stand-in as a child process (see also ../test_child.py) and as a command."""

import json
import signal
import subprocess
import sys
import time

import httpx
import psutil
import pytest

from local.chargebee.behaviour import API_KEY
from local.chargebee.start import start
from tests.local.chargebee.in_process import invoice

BY_HAND = [sys.executable, "-u", "-m", "local.chargebee"]


def test_its_behaviour_and_key() -> None:
    """The child behaves as the arguments of `start()` say."""
    with start(rate=17, api_key="another", idempotency_seconds=2.5) as api:
        behaviour = httpx.get(f"{api.url}/_/behaviour", timeout=60).json()
        missing = httpx.get(f"{api.url}/api/v2/invoices/none", auth=(api.api_key, ""), timeout=60)
    assert (behaviour["rate"], behaviour["idempotency_seconds"]) == (17, 2.5)
    assert (api.api_key, missing.status_code) == ("another", 404)


def test_by_hand() -> None:
    """The command prints its address in one line; SIGTERM ends it with the signal's exit code despite viewers."""
    command = [*BY_HAND, "--port", "0", "--host", "0.0.0.0"]  # noqa: S104
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Stand-in for Chargebee on http://0.0.0.0:")
        port = int(line.rpartition(":")[2])
        with httpx.stream("GET", f"http://127.0.0.1:{port}/stream", timeout=30) as stream:
            next(stream.iter_lines())
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) in {0, -signal.SIGTERM}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--rate", "0"], "error: --rate=0: Input should be greater than or equal to 1"),
        (["--errors", "most"], "error: --errors=most: "),
        (["--api-key", "a:b"], "error: --api-key=(hidden): "),
        (["--port", "http"], "invalid int value: 'http'"),
    ],
)
def test_a_wrong_option(arguments: list[str], expected: str) -> None:
    """A wrong option is named, without a traceback."""
    ended = subprocess.run([*BY_HAND, *arguments], capture_output=True, encoding="utf-8", check=False, timeout=60)
    assert ended.returncode != 0
    assert expected in ended.stderr
    assert "Traceback" not in ended.stderr


def test_help() -> None:
    """The help has every option with its default, except the one that only parent processes use."""
    shown = subprocess.run([*BY_HAND, "--help"], capture_output=True, encoding="utf-8", check=True, timeout=60).stdout
    assert {"--host", "--port", "--rate", "--latency", "--errors", "--seed"} <= set(shown.split())
    assert "--child" not in shown


def test_it_is_quick() -> None:
    """A call costs the stand-in hardly more CPU than the sender (0.5 ms), because it runs beside measurements.

    The best of three rounds counts: on a busy machine, either process may need more CPU for the same work.
    """
    rounds, calls = 3, 400
    shares = []
    with start(rate=100_000) as api, httpx.Client(base_url=api.url, auth=(API_KEY, ""), timeout=60) as http:
        http.put("/_/invoices", content=json.dumps([invoice(number) for number in range(rounds * calls)]))
        process = psutil.Process(api.pid)
        for begin in range(0, rounds * calls, calls):
            before, sender = process.cpu_times(), time.process_time()
            for number in range(begin, begin + calls):
                http.post(f"/api/v2/invoices/draft_inv_{number}/close").raise_for_status()
            after, sender = process.cpu_times(), time.process_time() - sender
            shares.append((after.user + after.system - before.user - before.system) / sender)
    assert min(shares) < 1.5, shares
