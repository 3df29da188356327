"""The service's memory under faults of SQS."""

import subprocess
import sys

import pytest

from app.settings import NEWEST
from loadtest.interleaved import closed_loop
from loadtest.memory import FAULTS, measure
from loadtest.record.comparison import Environment
from loadtest.record.folders import ROOT
from loadtest.record.memory import LIMIT_MIB, Memory, Mode
from loadtest.record.shapes import Audit
from loadtest.report import memory as report

pytestmark = pytest.mark.usefixtures("tools")
HOLDS = Audit(accepted=1, lost=[], unasked=0, altered=0, duplicates=0, late=0)


def mode(peak_mib: float = LIMIT_MIB, audit: Audit = HOLDS) -> Mode:
    return Mode(fault="close", tls=True, statuses={"503": 1234, "0": 1, "200": 5}, peak_mib=peak_mib, audit=audit)


def test_what_holds() -> None:
    """A run does not hold if its peak exceeds the limit, or if a webhook is lost."""
    assert mode().holds
    assert not mode(LIMIT_MIB + 1).holds
    assert not mode(audit=HOLDS.model_copy(update={"lost": ["ev_1"]})).holds


def test_the_table() -> None:
    """The table marks a peak that is too high, and counts the answers by status."""
    where = Environment(commit="abcdef0", started="", machine={}, tools={})
    modes = [mode(), mode(LIMIT_MIB + 1)]
    table = report.text(Memory(environment=where, command="", release="v10", users=64, seconds=30, modes=modes))
    assert table.startswith("v10, 64 users, 30 s for each fault:\n")
    assert "| close, TLS | 200 MiB | no answer: 1, 200: 5, 503: 1,234 | holds |" in table
    assert "| close, TLS | 201 MiB (over 200) |" in table


@pytest.mark.slow
def test_two_faults(thorough: bool) -> None:
    """Over TLS and plain, webhooks are answered as the fault demands, and the process's peak is measured."""
    faults = ("close", "truncated", *FAULTS) if thorough else ("close", "truncated")
    measured = {found.name: found for found in measure(NEWEST, closed_loop(8, 1), tuple(dict.fromkeys(faults)))}
    assert len(measured) == 2 * len(set(faults))
    for connected in ("TLS", "plain"):
        assert measured[f"close, {connected}"].statuses.keys() == {"200"}
        assert measured[f"truncated, {connected}"].statuses.keys() == {"503"}
    assert all(found.audit.holds and found.peak_mib > 10 for found in measured.values())


def test_an_unknown_fault() -> None:
    """The exit code is 2, and the message names the faults."""
    command = [sys.executable, "-m", "loadtest", "memory", "--only", "loud"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False, timeout=60)
    assert ended.returncode == 2
    assert "'late', 'twice', 'truncated', 'drip', 'close', 'reset', 'giant'" in ended.stderr
