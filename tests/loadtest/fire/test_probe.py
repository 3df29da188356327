"""The probes of /healthz during an attack."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from loadtest.fire import vegeta
from loadtest.fire.probe import Prober, ProbeResult
from loadtest.record.shapes import ProbeLatencies
from loadtest.report import over_time, request_charts
from tests.harness.ports import refusing


class _Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Logs nothing."""


def _probed(url: str) -> ProbeResult:
    with Prober(url) as prober:
        while not prober.sequence:
            prober._ended.wait(0.01)
    return prober.sequence[0]


def test_a_refused_probe_is_a_failed_one() -> None:
    """A dead process refuses a probe at once. This counts as a failure, not as a short latency."""
    with refusing() as port:
        assert not _probed(f"http://127.0.0.1:{port}").answered


def test_a_healthy_service_answers_its_probes() -> None:
    """A probe with a 200 counts as answered."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Healthy)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        assert _probed(f"http://127.0.0.1:{server.server_address[1]}").answered
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_latencies_are_those_of_answered_probes() -> None:
    """Failed probes are counted, but excluded from percentiles, because a dead process fails them in almost 0 s."""
    prober = Prober("http://127.0.0.1:1")
    prober.sequence = [ProbeResult(0.0, 2.0, True), ProbeResult(1.0, 0.0, False), ProbeResult(2.0, 0.0, False)]
    assert prober.probes() == ProbeLatencies(number=3, failed=2, p50=2000, p99=2000, slowest=2000)
    prober.sequence = [ProbeResult(0.0, 0.0, False)]
    assert prober.probes() == ProbeLatencies(number=1, failed=1)


def test_a_failed_probe_has_a_mark_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the picture of an attack, a failed probe has another mark than an answered probe."""
    monkeypatch.setattr(vegeta, "hits", lambda results: [])
    (tmp_path / "probes.json").write_text("[[0.1, 0.2, true], [0.3, 0.0, false]]", encoding="utf-8")
    assert over_time.requests(tmp_path) == [
        (0.1, 0.2, request_charts.PROBED),
        (0.3, 0.0, request_charts.PROBE_FAILED),
    ]
