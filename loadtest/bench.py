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
from loadtest.duet import Pair
from loadtest.failures import exit_on_failure
from loadtest.interleaved import USERS
from loadtest.record import folders
from loadtest.record.shapes import Load
from loadtest.report import ratios
from loadtest.stage import subject
from loadtest.stage.collector import collector
from loadtest.stage.peers import peers
from loadtest.stage.subject import Subject

TITLE = "bench: CPU per accepted webhook"


@click.command(help=__doc__)
@click.option("--repeats", type=click.IntRange(1, 50), default=10, show_default=True)
@click.option("--seconds", type=click.FloatRange(1, 600), default=5, show_default=True, help="Of each attack.")
@click.option("--only", multiple=True, help="Only this subject: v09, go, … (repeatable).")
def main(repeats: int, seconds: float, only: tuple[str, ...]) -> None:
    with exit_on_failure():
        _bench(only, interleaved.closed_loop(USERS, seconds), repeats)


def _bench(only: tuple[str, ...], load: Load, repeats: int) -> None:
    where = interleaved.environment()
    file = folders.comparison(where, quick=bool(only)) / "bench.json"
    with collector() as url:
        pairs = _beside_the_newest(only, url)
        comparison = duet.run(TITLE, pairs=pairs, load=load, repeats=repeats, file=file, where=where)
    interleaved.finish(comparison, file, ratios.bench(comparison))


def _beside_the_newest(only: tuple[str, ...], collector: str) -> list[Pair]:
    subjects = (*map(subject.release, subject.QUEUEING[:-1]), _observed(collector), *peers())
    return duet.pairs(subject.release(NEWEST), [what for what in subjects if _wanted(what.name, only)])


def _observed(collector: str) -> Subject:
    """The newest with all of its telemetry on: metrics, traces of one webhook in a hundred, the watchdog."""
    pushed = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_METRIC_EXPORT_INTERVAL": "1000"}
    return subject.release(NEWEST, f"{NEWEST} observed", APP_METRICS_PORT="0", APP_BLOCK_WARN="0.1", **pushed)


def _wanted(name: str, only: tuple[str, ...]) -> bool:
    return not only or name.startswith(only)


if __name__ == "__main__":
    main()
