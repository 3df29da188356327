"""`python -m loadtest bench --against`: this tree's releases beside those of another commit."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.errors import ConfigurationError
from app.settings import NEWEST
from loadtest.record.comparison import Comparison, Environment, Run
from loadtest.record.folders import ROOT
from loadtest.record.shapes import Latencies, Load, Measurement, Used
from loadtest.report import capacity_chart, ratios
from loadtest.stage import subject, trial

LOAD = Load(rate=0, duration_s=1, timeout_s=30, users=4)
TIMES = Latencies(fastest=1, mean=1, p50=1, p90=1, p99=1, slowest=1)


def measured(name: str, cpu_ms: float) -> Measurement:
    """An attack of which only the name and the CPU for each webhook matter."""
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
    """Each release has a row beside itself and a row beside the other commit's, with the ratio of the two."""
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
    assert "Differences of 10 % or more can be told here." in table


def test_the_capacity_of_each_subject() -> None:
    """Releases come first, then Go, then the floor. The newest release is there once, without its telemetry."""
    names = ["v11 again", "v02", "v11 observed", "asgi_noop", "go"]
    runs = [Run(kind=name, repeat=0, measurement=measured(name, 1.0)) for name in names]
    where = Environment(commit="abcdef0", started="", machine={}, tools={})
    comparison = Comparison(title="", command="", environment=where, repeats=1, runs=runs)
    assert list(capacity_chart.rates(comparison)) == ["v02", "v11", "go", "asgi_noop"]


def test_a_release_that_the_other_commit_lacks() -> None:
    """The line that the other commit's service prints is the reason."""
    missing = replace(subject.release(NEWEST), name="v99 at 36ecee9", release="v99")
    with pytest.raises(ConfigurationError, match=r"^v99 at 36ecee9: .* error: APP_RELEASE=v99: allowed is v01"):
        trial.start(missing)


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--against", "nope"), f"error: --against=nope: {ROOT} has no such commit\n"),
        (("--python", "/bin/false"), "error: --python=/bin/false: this is no Python interpreter\n"),
        (("--python", "python3", "--against", "HEAD"), "error: --against and --python: allowed is one of them\n"),
        (("--against", "HEAD", "--only", "v99"), "error: --only=v99: allowed is the beginning of v02_blocking, "),
        (("--only", "v08", "--only", "cobol"), "error: --only=cobol: allowed is the beginning of v01_inline, "),
    ],
)
def test_failures_are_one_line(arguments: tuple[str, ...], reason: str) -> None:
    """The exit code is 2."""
    ended = bench(*arguments)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1), ended.stderr
    assert ended.stderr.startswith(reason)


@pytest.mark.slow
@pytest.mark.usefixtures("tools")
def test_this_tree_against_its_own_commit() -> None:
    """Both are measured, the table and the file name both, and no worktree is left."""
    ended = bench("--against", "HEAD", "--only", NEWEST, "--repeats", "1", "--seconds", "1")
    assert ended.returncode == 0, ended.stderr
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    ).stdout[:7]
    assert f"beside {commit} |" in ended.stdout
    file = Path(ended.stdout.splitlines()[-1])
    assert file.name == f"bench-against-{commit}.json"
    comparison = Comparison.model_validate_json(file.read_text(encoding="utf-8"))
    assert comparison.against == commit
    again, theirs = (NEWEST, f"{NEWEST} again"), (f"{NEWEST} at {commit}", NEWEST)
    assert {run.measurement.name for run in comparison.runs} == {*again, *theirs}
    assert all(run.measurement.accepted > 0 for run in comparison.runs)
    assert not (ROOT / ".run" / "against" / "worktree").exists()
