"""Shows in which stages the CPU time of a webhook is spent, at saturation on a quarter of a core.

A closed loop keeps the release busy, while py-spy samples its stacks from outside. Each sample counts for the stage of
its innermost frame that belongs to one: server, framework, gate, body, parse, handler, message, wait, call, sign, send,
receive, respond or log; otherwise for `other`. The command writes shares.json to loadtest/results/<date>-<commit>, or
for a shorter attack, or another release than the newest, to <date>-<commit>-quick.
"""

import tempfile
from contextlib import ExitStack
from pathlib import Path

import click

from app.settings import NEWEST, Release
from loadtest import interleaved
from loadtest.failures import exit_on_failure
from loadtest.fire import progress
from loadtest.fire.measure import measure
from loadtest.fire.stacks import recorded, stacks
from loadtest.interleaved import USERS
from loadtest.record import folders
from loadtest.record.shares import Shares
from loadtest.report import shares as report
from loadtest.stage import subject
from loadtest.stage.subject import Running

SECONDS = 30


@click.command(help=__doc__)
@click.option(
    "--release", type=click.Choice([r.value for r in subject.QUEUEING]), default=NEWEST.value, show_default=True
)
@click.option("--seconds", type=click.FloatRange(1, 600), default=SECONDS, show_default=True, help="Of the attack.")
def main(release: str, seconds: float) -> None:
    with exit_on_failure():
        done = of(Release(release), seconds)
        click.echo(report.table(done))
        for doubt in done.conditions.doubts if done.conditions else []:
            click.echo(f"DOUBTFUL: {doubt}")
        file = folders.comparison(done.environment, quick=release != NEWEST or seconds < SECONDS) / "shares.json"
        folders.write(file, done)
        click.echo(file)


def of(release: Release, seconds: float) -> Shares:
    """Attacks `release` for `seconds`, and returns the stages in which its CPU time was spent.

    Raises what `loadtest.fire.measure.measure` raises, and ConfigurationError if py-spy could not sample the release.
    """
    where = interleaved.environment()
    load = interleaved.closed_loop(USERS, seconds)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as sampling:
        out = Path(folder)

        def begin(running: Running) -> None:
            sampling.enter_context(recorded(running.pid, out / "stacks.txt"))

        with interleaved.warm_stack(out / "shares.json") as stack, progress.attack("shares", load) as shown:
            measured = measure(
                stack, subject.release(release), "capped", load, out=out / "attack", progress=shown, begin=begin
            )
        sampling.close()
        found = stacks(out / "stacks.txt")
    assert measured.used is not None
    return Shares(
        environment=where,
        command=interleaved.called(),
        release=release.value,
        cpu_ms=measured.used.cpu_ms_per_accepted or 0,
        per_second=measured.rps,
        samples=sum(found.values()),
        stages=report.by_stage(found),
        conditions=measured.conditions,
    )
