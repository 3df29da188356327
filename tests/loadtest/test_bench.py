"""`python -m loadtest bench --against` compares this tree's releases with the releases of another commit."""

import subprocess
import sys

from loadtest.record.comparison import Comparison, Environment, Run
from loadtest.record.folders import ROOT
from loadtest.record.shapes import Latencies, Load, Measurement, Used
from loadtest.report import capacity_chart, ratios

LOAD = Load(rate=0, duration_s=1, timeout_s=30, users=4)
TIMES = Latencies(fastest=1, mean=1, p50=1, p90=1, p99=1, slowest=1)


def measured(name: str, cpu_ms: float) -> Measurement:
    """Returns an attack in which only the name and the CPU for each webhook matter."""
    used = Used(
        budget="capped",
        how="none",
        limited=True,
        cpus=0.25,
        memory_mib=None,
        cpu_s=1,
        cpu_ms_per_accepted=cpu_ms,
        peak_mib=None,
        ready_s=1,
    )
    return Measurement(
        name=name,
        load=LOAD,
        body_bytes=1,
        used=used,
        requests=1,
        accepted=1,
        statuses={},
        errors=[],
        rps=1,
        latencies=TIMES,
        distribution=[],
        audit=None,
    )


def bench(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "loadtest", "bench", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False, timeout=250)


def test_the_table_names_both_commits() -> None:
    """Each release has a row for its duet with itself, and a row for its duet with the other commit's release."""
    duets = [("v10 again", "v10", 1.1), ("v10", "v10 at 36ecee9", 0.5)]
    runs = [
        Run(kind=kind, repeat=0, measurement=measured(name, cpu))
        for kind, other, ratio in duets
        for name, cpu in ((kind, 2 * ratio), (other, 2.0))
    ]
    where = Environment(commit="abcdef0", started="", machine={}, tools={})
    comparison = Comparison(title="", command="", environment=where, repeats=1, runs=runs, against="36ecee9")
    table = ratios.against(comparison)
    assert "| v10 | abcdef0 beside itself | 2.200 ms | 2.000 ms | 1.10 |" in table
    assert "| v10 | abcdef0 beside 36ecee9 | 1.000 ms | 2.000 ms | 0.50 |" in table
    assert "A release beside itself differs by up to 10 %." in table


def test_the_capacity_of_each_subject() -> None:
    """Releases are first, then Go, then the floor. The newest release is listed once, without its telemetry."""
    names = ["v11 again", "v02", "v11 observed", "asgi_noop", "go"]
    runs = [Run(kind=name, repeat=0, measurement=measured(name, 1.0)) for name in names]
    where = Environment(commit="abcdef0", started="", machine={}, tools={})
    comparison = Comparison(title="", command="", environment=where, repeats=1, runs=runs)
    assert list(capacity_chart.rates(comparison)) == ["v02", "v11", "go", "asgi_noop"]
