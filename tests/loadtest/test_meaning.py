"""The sentence that explains the figures of an attack."""

import re

import pytest

from loadtest.record.folders import ROOT
from loadtest.record.shapes import Latencies, Load, Measurement, ProbeLatencies
from loadtest.report.meaning import meaning


def measured(
    *, probe: float | None, busiest: float | None, latencies: tuple[float, float, float], failed: int = 0
) -> Measurement:
    """Returns an attack of 1,000 requests. `latencies`: the fastest, p50 and p99, in ms."""
    fastest, p50, p99 = latencies
    return Measurement(
        name="a test",
        load=Load(rate=200, duration_s=5, timeout_s=30),
        body_bytes=0,
        requests=1000,
        accepted=1000 - failed,
        statuses={"200": 1000 - failed, "503": failed},
        request="GET /",
        busiest=busiest,
        errors=[],
        rps=120,
        latencies=Latencies(fastest=fastest, mean=p50, p50=p50, p90=p50, p99=p99, slowest=p99),
        probes=ProbeLatencies(number=9, failed=0 if probe else 9, p50=probe, p99=probe, slowest=probe),
        distribution=[],
        audit=None,
    )


FAST, WAITING, RARELY = (1, 2, 9), (100, 2000, 5000), (1, 2, 900)


@pytest.mark.parametrize(
    ("attack", "begins", "pages"),
    [
        (
            measured(probe=2100, busiest=0.04, latencies=WAITING),
            "Answers wait for each other: probes take 2.1 s while CPU is at 4 % of a core",
            {"blocking", "cpu_throttling"},
        ),
        (
            measured(probe=None, busiest=0.04, latencies=WAITING),
            "Answers wait for each other: probes fail while CPU",
            {"blocking", "cpu_throttling"},
        ),
        (
            measured(probe=2100, busiest=None, latencies=WAITING),
            "Answers wait for each other: probes take 2.1 s. If the CPU",
            {"blocking", "README"},
        ),
        (
            measured(probe=2100, busiest=0.99, latencies=WAITING),
            "The CPU is full: the busiest process uses 99 % of a core, and 120 of 200 requests a second succeed",
            {"README"},
        ),
        (
            measured(probe=7000, busiest=0.99, latencies=WAITING),
            "New connections wait longest (probes take 7.0 s)",
            {"who_is_not_let_in"},
        ),
        (
            measured(probe=2, busiest=0.1, latencies=WAITING),
            "Requests wait in line (the fastest takes 100 ms, half of them more than 2.0 s) although probes take 2 ms",
            {"tokens", "deadlock"},
        ),
        (
            measured(probe=2, busiest=0.1, latencies=FAST, failed=300),
            "300 of 1,000 requests failed (200: 700, 503: 300)",
            {"overload"},
        ),
        (
            measured(probe=2, busiest=0.1, latencies=RARELY),
            "One request in a hundred takes 900 ms and half of them 2 ms",
            {"blocking"},
        ),
        (
            measured(probe=2, busiest=0.1, latencies=FAST),
            "Requests do not wait for each other at this load: half of them take 2 ms, 99 % at most 9 ms, probes take",
            set(),
        ),
    ],
    ids=["blocked", "no-probe", "elsewhere", "full", "not-let-in", "in-line", "refused", "rarely", "fine"],
)
def test_the_sentence(attack: Measurement, begins: str, pages: set[str]) -> None:
    """Each pattern of figures has its own sentence. The pages that the sentence names exist."""
    sentence = meaning(attack)
    assert sentence.startswith(begins)
    named = re.findall(r"docs/questions/(\w+)\.md", sentence)
    assert set(named) == pages
    assert all((ROOT / "docs" / "questions" / f"{name}.md").exists() for name in named)
