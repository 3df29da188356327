"""The service's memory under faults of SQS."""

from loadtest.record.comparison import Environment
from loadtest.record.memory import LIMIT_MIB, Memory, Mode
from loadtest.record.shapes import Audit
from loadtest.report import memory as report

HOLDS = Audit(accepted=1, lost=[], unasked=0, altered=0, duplicates=0, late=0)


def mode(peak_mib: float = LIMIT_MIB, audit: Audit = HOLDS) -> Mode:
    return Mode(fault="close", tls=True, statuses={"503": 1234, "0": 1, "200": 5}, peak_mib=peak_mib, audit=audit)


def test_what_holds() -> None:
    """A peak over the limit does not, nor does a lost webhook."""
    assert mode().holds
    assert not mode(LIMIT_MIB + 1).holds
    assert not mode(audit=HOLDS.model_copy(update={"lost": ["ev_1"]})).holds


def test_the_table() -> None:
    """It marks a peak that is too high, and counts the answers by status."""
    where = Environment(commit="abcdef0", started="", machine={}, tools={})
    modes = [mode(), mode(LIMIT_MIB + 1)]
    table = report.text(Memory(environment=where, command="", release="v10", users=64, seconds=30, modes=modes))
    assert table.startswith("v10, 64 users, 30 s for each fault:\n")
    assert "| close, TLS | 200 MiB | no answer: 1, 200: 5, 503: 1,234 | holds |" in table
    assert "| close, TLS | 201 MiB (over 200) |" in table
