"""The table of docs/questions/rewrite.md: the same work in several languages, from one run of `bench`."""

from typing import NamedTuple

from loadtest.record.comparison import Comparison
from loadtest.report.captions import conditions, repeats
from loadtest.report.cells import label, markdown, of
from loadtest.report.documents import newest
from loadtest.report.figures import CPU
from loadtest.report.ratios import duets_of, gain

UNKNOWN = "–"
HEAD = ["", "CPU, a call each", "CPU, shared calls", "ratio", "memory", "ready after"]
SOON = 0.1  # seconds; a shorter start is shown as `< 0.1 s`, because readiness is only checked every 20 ms


class Language(NamedTuple):
    """A row of the table: a language, and the programs that `bench` measures in this language.

    `single`: the program that makes an SQS call for each webhook, or "" if there is none. `shared`: the program with
    group commit, in which several webhooks share a call.
    """

    name: str
    single: str
    shared: str


ROWS = (
    Language("Python, FastAPI (v08, v09)", "v08_native_async", "v09_group_commit"),
    Language("Python, newest (v12)", "", "v12_lean_model"),
    Language("Node, Fastify", "node", "node_group_commit"),
    Language("Go, net/http", "go", "go_group_commit"),
    Language("Rust, axum", "rust", "rust_group_commit"),
    Language("Go, lean", "", "go_lean"),
)


def languages() -> str:
    """Returns the table with a caption. Memory and start time are those of the program with group commit.

    Raises NotMeasured if there is no result of `python -m loadtest bench`.
    """
    bench, _ = newest("bench")
    return f"{table(bench)}\n\n{conditions(bench)}; {repeats(bench)}."


def table(bench: Comparison) -> str:
    """Returns the table. Leaves out languages whose toolchain was not installed when `bench` ran."""
    measured = {run.kind for run in bench.runs}
    return markdown(HEAD, [_row(bench, one) for one in ROWS if duets_of(bench, one.shared) in measured])


def _row(bench: Comparison, one: Language) -> list[str]:
    kind = duets_of(bench, one.shared)
    shared = bench.of(kind, kind)
    return [
        label(one.name, shared),
        f"{_cpu(bench, one.single)} ms" if one.single else UNKNOWN,
        f"{_cpu(bench, one.shared)} ms",
        gain(bench, one.single, one.shared).text(".1f") if one.single else UNKNOWN,
        f"{of(shared, 'used.peak_mib').median:.0f} MiB",
        f"{ready:.1f} s" if (ready := of(shared, "used.ready_s").median) >= SOON else f"< {SOON:g} s",
    ]


def _cpu(bench: Comparison, name: str) -> str:
    kind = duets_of(bench, name)
    return f"{of(bench.of(kind, kind), CPU).median:.3f}"
