"""Runs the published attack on each release, and plots the results.

The attack sends 500 webhooks per second for 5 s, with a time-out of 30 s. A release has at most one core. Repeats are
interleaved: each repeat attacks all releases. v01 does the billing work itself instead of using a queue. The load
script behind its published figure is not available, so v01 gets 500 webhooks per second for 2 s. Writes history.json,
report.html and the pictures to loadtest/results/<date>-<commit>. `make docs` puts the results into RESULTS.md and
CHANGELOG.md.
"""

from pathlib import Path

import click

from app.settings import NEWEST, Release
from loadtest import interleaved, outcome
from loadtest.failures import exit_on_failure
from loadtest.interleaved import Case
from loadtest.record import folders
from loadtest.record.shapes import Load
from loadtest.report import over_time, page, pictures, tables
from loadtest.stage import subject

REPEATS = 3  # a run with fewer repeats is a trial run, which documents do not use


def published(duration_s: float) -> Load:
    return Load(rate=500, duration_s=duration_s, timeout_s=30)


def script() -> Load:
    """Returns the load for v01: 1,000 webhooks, as many as the unpublished script behind its published figure sent."""
    return Load(rate=500, duration_s=2, timeout_s=30)


def cases(seconds: float, sustained: bool) -> list[Case]:
    """Returns one case for each release. `seconds`: the duration of an attack, except on v01.

    If `sustained` is true, adds two cases: v07 and the newest release get the published 200 webhooks/s for 4 minutes.
    """
    subjects = [subject.release(release) for release in subject.QUEUEING]
    result = [Case("published", subject.release(Release.V01_INLINE), "burst", script())]
    result += [Case("published", what, "burst", published(seconds)) for what in subjects]
    if sustained:
        load = Load(rate=200, duration_s=240, timeout_s=30)
        both = [subject.release(release) for release in (Release.V07_SYNC_HANDLER, NEWEST)]
        result += [Case("sustained", what, "burst", load, once=True) for what in both]
    return result


@click.command(help=__doc__)
@click.option("--quick", is_flag=True, help="Attacks of 2 s, for a trial run.")
@click.option("--repeats", type=click.IntRange(1, 50), default=REPEATS, show_default=True)
@click.option("--sustained", is_flag=True, help="Also 200/s for 4 minutes, on v07 and the newest.")
@click.option("--out", type=click.Path(path_type=Path), help="[default: loadtest/results/<date>-<commit>]")
def main(quick: bool, repeats: int, sustained: bool, out: Path | None) -> None:
    with exit_on_failure():
        where = interleaved.environment()
        out = out or folders.comparison(where, quick or repeats < REPEATS)
        chosen = cases(2 if quick else 5, sustained)
        comparison = interleaved.run(
            "history: published against measured", chosen, repeats, out / "history.json", where
        )
        hits = over_time.hits(comparison, out)
        page.write(comparison, hits, out)
        over_time.write(over_time.history(hits), out, "over-time")
        pictures.write(comparison, out)
        outcome.finish(comparison, out / "report.html", tables.history(comparison))
