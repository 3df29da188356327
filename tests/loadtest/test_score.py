"""The score tables of CHANGELOG.md."""

from loadtest.report import score_table
from loadtest.report.documents import newest
from loadtest.report.overview import overview
from loadtest.report.score_table import HEAD, score


def test_a_score_has_the_release_before_and_its_own() -> None:
    """The first release that enqueues has one row. Each later release also has the row of the previous release."""
    assert [row[:5] for row in score("v02").splitlines()[2:]] == ["|v02|"]
    assert score("v03").splitlines()[2] == score("v02").splitlines()[2]
    assert all(row.count("|") == HEAD[0].count("|") for row in score("v03").splitlines())


def test_a_score_is_from_the_newest_bench() -> None:
    """CPU time and throughput are the same as in the table of all releases, but rounded."""
    table = overview(newest("history")[0], newest("bench")[0])
    [row] = [line.split(" | ") for line in table.splitlines() if line.startswith("| v08_native_async |")]
    _, _, cpu, _, rate, _ = score("v08").splitlines()[-1].split("|")
    assert float(cpu) == round(float(row[1].split()[0]), 2)
    assert rate == row[3].split()[0]


def test_a_release_that_was_not_measured_has_no_figures() -> None:
    """A new release has a row without figures before its first bench."""
    bench, _ = newest("bench")
    without = bench.model_copy(update={"runs": [run for run in bench.runs if not run.kind.startswith("v08")]})
    assert score_table._row(without, "v08_native_async") == "|v08|–|–|–|"
