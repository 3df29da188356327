"""The table of the same work in several languages."""

from loadtest.report.documents import newest
from loadtest.report.languages import ROWS, table


def test_a_language_that_was_not_measured_has_no_row() -> None:
    """All others have one, with the figures of the bench."""
    bench, _ = newest("bench")
    without = bench.model_copy(update={"runs": [run for run in bench.runs if not run.kind.startswith("rust")]})
    whole, some = table(bench).splitlines(), table(without).splitlines()
    assert len(whole) == 2 + len(ROWS)
    assert some == [line for line in whole if not line.startswith("| Rust")]
    assert "nan" not in "".join(some)
