"""A measurement counts only the time of the attack, and is doubtful if its budget is not enforced."""

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import pytest

from loadtest.fire import attack_measurement as measuring
from loadtest.fire import vegeta
from loadtest.fire.attack_measurement import measure
from loadtest.fire.conditions import Observer
from loadtest.fire.probe import Prober
from loadtest.fire.progress import SILENT
from loadtest.fire.traffic import Traffic
from loadtest.interleaved import closed_loop
from loadtest.stage import toxiproxy
from loadtest.stage.peers import floor
from loadtest.stage.stack import open_stack

ATTACK_S, PROBE_S = 0.5, 2.0


class _Slow(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        time.sleep(PROBE_S)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def slow_probes() -> Iterator[str]:
    """Yields the URL of a service whose probes take longer than the attack."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_probes_begin_with_the_attack(slow_probes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Probes start with the attack, because probes of an idle service would change the median of `/healthz`."""
    began: list[str] = []

    class Loop(Observer):
        def __enter__(self) -> Self:
            began.append("observer")
            return super().__enter__()

    class Probes(Prober):
        def __enter__(self) -> Self:
            began.append("prober")
            return super().__enter__()

    monkeypatch.setattr(measuring, "Prober", Probes)
    monkeypatch.setattr(vegeta, "attack", lambda *arguments: began.append("attack"))
    traffic = Traffic(slow_probes, "demo", "demo")
    measuring._send(closed_loop(1, ATTACK_S), "a test", traffic, tmp_path, observer=Loop(), progress=SILENT)
    assert began == ["observer", "prober", "attack"]


def test_cpu_counts_until_vegeta_ends(slow_probes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last probe ends later. CPU in this time does not count, because the attack's clients have disconnected."""

    def attack(*arguments: object) -> None:
        time.sleep(ATTACK_S)

    monkeypatch.setattr(vegeta, "attack", attack)
    traffic, began = Traffic(slow_probes, "demo", "demo"), time.monotonic()
    busy: Callable[[], float] = time.monotonic  # a service that uses one core all the time
    sent = measuring._send(
        closed_loop(1, ATTACK_S), "a test", traffic, tmp_path, observer=Observer(), progress=SILENT, cpu=busy
    )
    assert time.monotonic() - began > PROBE_S
    assert ATTACK_S <= sent.cpu_s < PROBE_S
    assert len(sent.prober.sequence) == 1


@pytest.mark.slow
def test_a_budget_that_nothing_enforces_is_doubtful(
    tools: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If nothing enforces the quarter of a core, the measurement has a doubt, so that tables mark its figures."""
    monkeypatch.setenv("LOADTEST_BUDGET", "process tree")
    with open_stack("auto", [toxiproxy.latency(0)]) as stack:
        measured = measure(stack, floor(), "capped", closed_loop(2, 0.5), out=tmp_path)
    assert measured.conditions is not None
    assert any(doubt.startswith("the CPU was not limited (0.25 cores)") for doubt in measured.conditions.doubts)
