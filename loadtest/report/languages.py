"""The table of docs/questions/rewrite.md: the same work in several languages, from one run of `bench`."""

from typing import NamedTuple

from loadtest.record.comparison import Comparison
from loadtest.record.folders import ROOT
from loadtest.report.captions import conditions, repeats
from loadtest.report.cells import label, markdown, of
from loadtest.report.documents import newest
from loadtest.report.figures import CPU
from loadtest.report.ratios import duets_of, gain

UNKNOWN = "–"
HEAD = ["", "CPU, a call each", "CPU, group commit", "ratio", "memory", "ready after", "lines"]


class Language(NamedTuple):
    """A row. `single`: the subject that makes a call for each webhook. `shared`: the one with group commit.

    `single` is "" if there is no such subject. `sources`: the peer's files, as a pattern below loadtest/peers, or "".
    """

    name: str
    single: str
    shared: str
    sources: str = ""


ROWS = (
    Language("Python, FastAPI (v08, v09)", "v08_native_async", "v09_group_commit"),
    Language("Python, newest (v12)", "", "v12_lean_model"),
    Language("Node, Fastify", "node", "node_group_commit", "node/*.js"),
    Language("Go, net/http", "go", "go_group_commit", "go/*.go"),
    Language("Rust, axum", "rust", "rust_group_commit", "rust/src/*.rs"),
    Language("Go, lean", "", "go_lean", "go/lean/*.go"),
)


def languages() -> str:
    """Returns the table: CPU of a webhook in ms; memory, start and lines of group commit. Raises NotMeasured."""
    bench, _ = newest("bench")
    return f"{markdown(HEAD, [_row(bench, one) for one in ROWS])}\n\n{conditions(bench)}; {repeats(bench)}."


def _row(bench: Comparison, one: Language) -> list[str]:
    kind = duets_of(bench, one.shared)
    shared = bench.of(kind, kind)
    return [
        label(one.name, shared),
        f"{_cpu(bench, one.single)} ms" if one.single else UNKNOWN,
        f"{_cpu(bench, one.shared)} ms",
        gain(bench, one.single, one.shared).text(".1f") if one.single else UNKNOWN,
        f"{of(shared, 'used.peak_mib').median:.0f} MiB",
        f"{of(shared, 'used.ready_s').median:.2f} s",
        f"{_lines(one.sources)}" if one.sources else UNKNOWN,
    ]


def _cpu(bench: Comparison, name: str) -> str:
    kind = duets_of(bench, name)
    return f"{of(bench.of(kind, kind), CPU).median:.3f}"


def _lines(sources: str) -> int:
    """Returns the number of lines of a peer that are not empty, without its tests."""
    files = [file for file in (ROOT / "loadtest" / "peers").glob(sources) if "_test." not in file.name]
    return sum(bool(line.strip()) for file in files for line in file.read_text(encoding="utf-8").splitlines())
