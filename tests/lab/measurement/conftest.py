"""Studies as lab.json has them, with made-up figures."""

import pytest

from lab.measurement.case_record import CaseRepeat, Cores, LabResults, Study, Threads
from loadtest.record.comparison import Environment
from loadtest.record.shapes import Conditions, Latencies, Load, Measurement, Used
from loadtest.stage.tools import provide

WHERE = Environment(
    commit="0123456",
    started="2026-11-22T12:00:00+00:00",
    machine={"cpu": "a CPU", "cores": "2", "python": "3.11.7", "system": "Linux"},
    tools={"vegeta": "12.12.0"},
)


def row(
    name: str, repeat: int, rps: float, *, statuses: dict[str, int] | None = None, lab_cores: float = 0.5
) -> CaseRepeat:
    """Returns a repeat of three seconds with 50 users. Its latency follows from Little's law."""
    mean = 50_000 / rps
    accepted = round(3 * rps)
    measured = Measurement(
        name=name,
        load=Load(rate=0, duration_s=3, timeout_s=30, users=50),
        body_bytes=0,
        used=Used(
            budget="none",
            how="process tree",
            limited=False,
            cpus=None,
            memory_mib=None,
            cpu_s=3 * lab_cores,
            cpu_ms_per_accepted=1000 * lab_cores / rps,
            peak_mib=None,
            ready_s=1,
        ),
        requests=accepted,
        accepted=accepted,
        statuses=statuses or {"200": accepted},
        errors=[],
        rps=rps,
        latencies=Latencies(fastest=mean, mean=mean, p50=mean, p90=mean, p95=mean, p99=mean, slowest=mean),
        conditions=Conditions(
            foreign_cores=0.0, stolen_cores=0.0, queue_cores=None, late_ms=None, ping_ms=None, doubts=[]
        ),
        distribution=[],
        audit=None,
    )
    cores = Cores(lab=lab_cores, generator=0.3, upstream=0.1, database=0.0, harness=0.05, of=2)
    return CaseRepeat(
        name=name,
        path=f"GET /{name}",
        workers=1,
        repeat=repeat,
        measurement=measured,
        threads=Threads(python=41, os=44, before=3),
        cores=cores,
    )


def study(name: str, figures: dict[str, list[float]]) -> Study:
    """Returns a study. `figures`: for each case, how many 200s a second each repeat had."""
    rows = [row(case, repeat, rps) for case, repeats in figures.items() for repeat, rps in enumerate(repeats)]
    return Study(name=name, command="python -m lab measure", environment=WHERE, repeats=3, scale=None, rows=rows)


@pytest.fixture(scope="session")
def tools() -> None:
    """Provides vegeta, from PATH or built once."""
    provide("vegeta")


@pytest.fixture
def lab() -> LabResults:
    """Study 1 as published, and two of study 2's cases."""
    three_tasks = {
        "sync_baseline": [26.0, 27.0, 28.0],
        "async_independent": [160.0, 165.0, 170.0],
        "async_dependent": [161.0, 164.0, 171.0],
        "async_concurrent": [480.0, 490.0, 500.0],
    }
    outbound = {"sync, new client": [38.0, 39.0, 40.0], "async, new client": [20.0, 21.0, 22.0]}
    return LabResults(studies=[study("three_tasks", three_tasks), study("outbound", outbound)])
