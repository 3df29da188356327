"""The generated parts of README: what was wrong before each release, and the chart of throughputs."""

from itertools import pairwise

from app.settings import Release
from loadtest.record.estimate import estimate, ratio
from loadtest.record.folders import ROOT
from loadtest.report import capacity_chart
from loadtest.report.captions import conditions, repeats
from loadtest.report.documents import newest, picture
from local import lessons

# A ratio is printed in bold if its whole interval is above this value.
CLEARLY_MORE = 1.1
# The release that README recommends.
ENOUGH = Release.V09_GROUP_COMMIT


def steps() -> str:
    """Returns README's answer: a row for each step of the history, and how much it brought in the run of the chart."""
    bench, _ = newest("bench")
    rates = capacity_chart.rates(bench)
    rows = ["| chapter | what was wrong | what changed | × |", "|---|---|---|---|"]
    for before, release in pairwise(Release):
        wrong, change = lessons.STEPS[release]
        # v01 answers after the billing work, and all others before it, so their rates are of different tasks.
        gain = ratio(rates[release], rates[before]) if before.enqueues else None
        shown = "–" if gain is None else f"**{gain.text('.2f')}**" if gain.low > CLEARLY_MORE else gain.text(".2f")
        name = release.value.partition("_")[0]
        rows.append(f"| [{name}](CHANGELOG.md#{release.value}) | {wrong} | {change} | {shown} |")
    return "\n".join(rows)


def capacity() -> str:
    """Returns README's picture, and throughputs of one run, all of the same task: to enqueue a webhook."""
    bench, folder = newest("bench")
    shown = picture(folder, "capacity", "Webhooks a second on a quarter of a core: releases, Go, and the floor", ROOT)
    rates = {name: estimate(values).text(",.0f") for name, values in capacity_chart.rates(bench).items()}
    first, *_, last = (release for release in Release if release.enqueues)
    return (
        f"{shown}\n\nOn a quarter of a core, `{first}` enqueued {rates[first]} webhooks a second,"
        f" `{ENOUGH}` {rates[ENOUGH]}, `{last}` {rates[last]}, Go with group commit {rates['go_group_commit']},"
        f" and the leanest Go {rates['go_lean']}."
        f" {conditions(bench)}; {repeats(bench)}. [All results](loadtest/RESULTS.md)."
    )
