"""The report about webhooks that were sent, and the probes meanwhile."""

from collections import Counter

from local.chargebee.load_generator import LoadResult


def _line(probes: list[float], failed: int) -> str:
    return LoadResult(Counter({200: 1}), [b""], [0.1], probes, failed, 1.0).report().partition("\n")[2]


def test_a_failed_probe_is_no_answer() -> None:
    """A request to /healthz that failed is counted apart from the answers, and its time is no latency."""
    assert _line([0.5], 0) == "/healthz meanwhile: 1 answers, slowest 500 ms"
    assert _line([0.5], 2) == "/healthz meanwhile: 1 answers, slowest 500 ms; 2 failed"
    assert _line([], 2) == "/healthz meanwhile: 0 answers; 2 failed"
    assert _line([], 0) == ""
