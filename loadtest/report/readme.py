"""The generated parts of README: the problem that each release solves, and the chart of throughputs."""

from itertools import pairwise

from app.settings import Release
from loadtest.record.comparison import Comparison
from loadtest.record.folders import ROOT
from loadtest.record.price_estimate import estimate
from loadtest.report import capacity_chart
from loadtest.report.captions import conditions, repeats
from loadtest.report.documents import newest, picture
from loadtest.report.ratios import beside_reference, gain
from local import lessons

# A ratio is printed in bold if its whole interval is above this value.
CLEARLY_MORE = 1.1
# The release that README recommends.
ENOUGH = Release.V09_GROUP_COMMIT


def steps() -> str:
    """Returns README's first table: for each release after v01, problem, change, and the factor by which CPU fell."""
    bench, _ = newest("bench")
    measured = capacity_chart.rates(bench)
    rows = ["| chapter | problem | change | gain |", "|---|---|---|---|"]
    for before, release in pairwise(Release):
        wrong, change, page = lessons.STEPS[release]
        # v01 bills before it answers, and all other releases only enqueue the webhook, so their CPU cannot be compared.
        found = gain(bench, before, release) if before.enqueues and release in measured else None
        shown = "–" if not before.enqueues else "not measured yet" if found is None else found.text(".2f")
        shown = f"**{shown}**" if found is not None and found.low > CLEARLY_MORE else shown
        name = release.value.partition("_")[0]
        why = f"[{wrong}](docs/questions/{page}.md)" if page else wrong
        rows.append(f"| [{name}](CHANGELOG.md#{release.value}) | {why} | {change} | {shown} |")
    return "\n".join(rows)


def capacity() -> str:
    """Returns README's picture of throughputs, and a text. The text leaves out v01, because v01 does other work."""
    bench, folder = newest("bench")
    shown = picture(folder, "capacity", "Webhooks a second: releases, Go, Rust, Node, uvicorn alone", ROOT)
    rates = {name: f"{estimate(values).median:,.0f}" for name, values in capacity_chart.rates(bench).items()}
    first, *_, last = (release for release in Release if release.enqueues and release in rates)
    number = repeats(bench).partition(" interleaved")[0]
    return (
        f"{shown}\n\nOn a quarter of a core, `{first}` enqueued {rates[first]} webhooks a second,"
        f" `{ENOUGH}` {rates[ENOUGH]}, `{last}` {rates[last]}. With group commit, and without logs, Go needed"
        f" {_share(bench, 'go_group_commit')} of v09's CPU, and Rust {_share(bench, 'rust_group_commit')}"
        " ([should I rewrite?](docs/questions/rewrite.md))."
        f" {conditions(bench)}; medians of {number} repeats. [All results](loadtest/RESULTS.md)."
    )


def _share(bench: Comparison, peer: str) -> str:
    """Returns the peer's CPU per webhook, in per cent of the CPU of ENOUGH.

    Each CPU is first divided by the CPU that the newest release took at the same time.
    """
    return f"{100 * beside_reference(bench, peer).median / beside_reference(bench, ENOUGH).median:.0f} %"
