"""The table in each chapter of CHANGELOG.md: CPU and throughput of the chapter's release and the previous release."""

from app.settings import Release
from loadtest.duet import AGAIN
from loadtest.record.comparison import Comparison
from loadtest.report import numbers
from loadtest.report.cells import label, of
from loadtest.report.documents import newest
from loadtest.report.figures import CPU

FLOOR = "asgi_noop"
WHOLE = 10  # ratios of at least this are shown without decimals
HEAD = ("|after|CPU in ms|÷ uvicorn alone|webhooks/s|", "|---|---:|---:|---:|")


def score(name: str) -> str:
    """Returns a table from the newest bench: a row for the previous release, and a row for the release `name`.

    v01 has no row, because it bills the webhook before it answers, and all other releases only enqueue it.
    """
    bench, _ = newest("bench")
    releases = [release.value for release in Release if release.enqueues]
    last = releases.index(Release(name))
    return "\n".join([*HEAD, *(_row(bench, release) for release in releases[max(0, last - 1) : last + 1])])


def _row(bench: Comparison, release: str) -> str:
    """Returns a row: the release's CPU, its ratio to the CPU of uvicorn alone, its throughput; `–` if not measured."""
    short = release.partition("_")[0]
    kinds = {run.kind for run in bench.runs} & {release, f"{release} {AGAIN}"}
    if not kinds:
        return f"|{short}|–|–|–|"
    [kind] = kinds
    duets = bench.of(kind, kind)
    above = numbers.bench(short, FLOOR)
    times = f"{above:.0f}" if above >= WHOLE else f"{above:.1f}"
    return f"|{label(short, duets)}|{of(duets, CPU).median:.2f}|{times}|{of(duets, 'rps').median:,.0f}|"
