"""CPU per accepted webhook, at saturation on a quarter of a core: every release, the floor, and Go.

The floor (asgi_noop) is the same server, which only reads the body and responds. The peers in Go do the same work as
a release, with net/http and aws-sdk-go-v2: one SendMessage per webhook (go), or group commit (go_group_commit). Every
subject runs beside the newest release, both at the same time, each in its own quarter of a core; the newest beside
itself shows which differences can be told apart, and with its telemetry on, what that costs. Writes bench.json to
loadtest/results/<date>-<commit>.
"""

import click

from app.settings import NEWEST
from loadtest import duet, interleaved
from loadtest.failures import exit_on_failure
from loadtest.interleaved import USERS
from loadtest.record import folders
from loadtest.report import ratios
from loadtest.stage import subject
from loadtest.stage.collector import collector
from loadtest.stage.peers import peers
from loadtest.stage.subject import Subject


@click.command(help=__doc__)
@click.option("--repeats", type=click.IntRange(1, 50), default=10, show_default=True)
@click.option("--seconds", type=click.FloatRange(1, 600), default=5, show_default=True, help="Of each attack.")
@click.option("--only", multiple=True, help="Only this subject: v09, go, … (repeatable).")
def main(repeats: int, seconds: float, only: tuple[str, ...]) -> None:
    with exit_on_failure():
        where = interleaved.environment()
        file = folders.comparison(where, quick=bool(only)) / "bench.json"
        load = interleaved.closed_loop(USERS, seconds)
        with collector() as url:
            subjects = (*map(subject.release, subject.QUEUEING[:-1]), _observed(url), *peers())
            comparison = duet.run(
                "bench: CPU per accepted webhook",
                pairs=duet.pairs(subject.release(NEWEST), [what for what in subjects if _wanted(what.name, only)]),
                load=load,
                repeats=repeats,
                file=file,
                where=where,
            )
        interleaved.finish(comparison, file, ratios.bench(comparison))


def _observed(collector: str) -> Subject:
    """The newest with all of its telemetry on: metrics, traces of one webhook in a hundred, the watchdog."""
    pushed = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_METRIC_EXPORT_INTERVAL": "1000"}
    return subject.release(NEWEST, f"{NEWEST} observed", APP_METRICS_PORT="0", APP_BLOCK_WARN="0.1", **pushed)


def _wanted(name: str, only: tuple[str, ...]) -> bool:
    return not only or name.startswith(only)


if __name__ == "__main__":
    main()
