"""The generated parts of README: what was wrong before each release, and the chart of throughputs."""

from itertools import pairwise

from app.settings import Release
from loadtest.record.comparison import Comparison
from loadtest.record.folders import ROOT
from loadtest.record.price_estimate import estimate, ratio
from loadtest.report import capacity_chart
from loadtest.report.captions import conditions, repeats
from loadtest.report.documents import newest, picture
from loadtest.report.ratios import beside_reference
from local import lessons

# A ratio is printed in bold if its whole interval is above this value.
CLEARLY_MORE = 1.1
# The release that README recommends.
ENOUGH = Release.V09_GROUP_COMMIT


def steps() -> str:
    """Returns README's answer: a row for each step of the history, and how much it brought in the run of the chart."""
    bench, _ = newest("bench")
    rates = capacity_chart.rates(bench)
    rows = ["| chapter | problem | change | gain |", "|---|---|---|---|"]
    for before, release in pairwise(Release):
        wrong, change, page = lessons.STEPS[release]
        # v01 answers after the billing work, and all others before it, so their rates are of different tasks.
        gain = ratio(rates.get(release, []), rates[before]) if before.enqueues else None
        shown = "–" if gain is None else gain.text(".2f") if release in rates else "not measured yet"
        shown = f"**{shown}**" if gain is not None and gain.low > CLEARLY_MORE else shown
        name = release.value.partition("_")[0]
        why = f"[{wrong}](docs/questions/{page}.md)" if page else wrong
        rows.append(f"| [{name}](CHANGELOG.md#{release.value}) | {why} | {change} | {shown} |")
    return "\n".join(rows)


def capacity() -> str:
    """Returns README's picture, and throughputs of one run, all of the same task: to enqueue a webhook."""
    bench, folder = newest("bench")
    shown = picture(folder, "capacity", "Webhooks a second: releases, Go, uvicorn alone", ROOT)
    rates = {name: f"{estimate(values).median:,.0f}" for name, values in capacity_chart.rates(bench).items()}
    first, *_, last = (release for release in Release if release.enqueues and release in rates)
    number = repeats(bench).partition(" interleaved")[0]
    return (
        f"{shown}\n\nOn a quarter of a core, `{first}` enqueued {rates[first]} webhooks a second,"
        f" `{ENOUGH}` {rates[ENOUGH]}, `{last}` {rates[last]}. Peers in Go of the last two, without logs, needed"
        f" {_share(bench, 'go_group_commit', ENOUGH)} and {_share(bench, 'go_lean', last)} of their CPU."
        f" {conditions(bench)}; medians of {number} repeats. [All results](loadtest/RESULTS.md)."
    )


def _share(bench: Comparison, peer: str, release: Release) -> str:
    """Returns the peer's CPU for a webhook, in percent of the release's. Both were measured beside one reference."""
    reference = bench.runs[1].measurement.name
    ours = 1.0 if release == reference else beside_reference(bench, release).median
    return f"{100 * beside_reference(bench, peer).median / ours:.0f} %"
