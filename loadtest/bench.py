"""Measures the CPU time per accepted webhook of every release, the floor and the peers, on a quarter of a core.

The floor (asgi_noop) is uvicorn alone, which only reads the body and responds. The peers are programs in Go (net/http),
Rust (axum) and Node (Fastify). They do the same work as a release, with AWS's SDK, but write no log line for a webhook.
Some send each webhook by itself with SendMessage (go, rust, node). Others send batches (group commit: go_group_commit
…). go_lean also sends batches, but with fasthttp, reused buffers, and its own client for SendMessageBatch instead of
the SDK, to use as little CPU time as possible.

Each subject (release, floor or peer) runs at the same time as the newest release. Each of the two has its own quarter
of a core, and enough users to keep it busy, except v01. v01 uses a table and a stand-in for Chargebee instead of the
queue, and mostly waits for Chargebee. The newest release also runs beside its own copy, which shows the smallest
difference that can be detected. It also runs beside a copy with all telemetry, which shows the cost of telemetry. A
peer whose toolchain is not installed is left out. After five repeats, a subject is not measured again if the confidence
interval of its result is narrow. Writes bench.json to loadtest/results/<date>-<commit>.

With --against or --python, each release of --only (by default, the newest) runs beside its own copy, and beside the
same release of the given commit or under the given Python interpreter. Writes bench-against-<commit>.json or
bench-against-Python-<version>.json.
"""

from collections.abc import Sequence
from dataclasses import replace

import click

from app.errors import ConfigurationError
from app.settings import NEWEST, Release
from loadtest import duet, interleaved, outcome
from loadtest.duet import Pair
from loadtest.failures import exit_on_failure
from loadtest.interleaved import USERS
from loadtest.record import folders
from loadtest.record.shapes import Load
from loadtest.report import ratios
from loadtest.stage import peers, subject, trial
from loadtest.stage.checkout import Checkout, checkout, other_python
from loadtest.stage.collector import collector
from loadtest.stage.subject import AttackSubject

# Minimum of repeats, and of seconds per attack. A run with less is a trial run, which documents do not use.
FEWEST, SECONDS = ratios.FEWEST, 5
TITLE = "bench: CPU per accepted webhook"


@click.command(help=__doc__)
@click.option("--repeats", type=click.IntRange(1, 50), default=10, show_default=True, help="At most.")
@click.option("--seconds", type=click.FloatRange(1, 600), default=SECONDS, show_default=True, help="Of each attack.")
@click.option("--only", multiple=True, help="Only this subject: v09, go, … (repeatable).")
@click.option("--against", metavar="COMMIT", help=f"Beside this commit's releases: those of --only, or {NEWEST}.")
@click.option("--python", "base", metavar="FILE", help="Beside another interpreter: the same releases.")
def main(repeats: int, seconds: float, only: tuple[str, ...], against: str | None, base: str | None) -> None:
    with exit_on_failure():
        load = interleaved.closed_loop(USERS, seconds)
        if against is not None and base is not None:
            raise ConfigurationError("--against and --python: allowed is one of them")
        if against is None and base is None:
            _bench(only, load, repeats)
            return
        releases = _releases(only)
        if against is not None:
            with checkout(against) as there:
                _bench_against(there, there.commit, releases, load, repeats)
        elif base is not None:
            there, version = other_python(base)
            _bench_against(there, version, releases, load, repeats)


def _bench(only: tuple[str, ...], load: Load, repeats: int) -> None:
    where = interleaved.environment()
    where.tools.update(peers.versions(lambda name: _wanted(name, only)))
    file = folders.comparison(where, quick=bool(only) or repeats < FEWEST or load.duration_s < SECONDS) / "bench.json"
    with collector() as url:
        pairs = _beside_the_newest(only, url)
        comparison = duet.run(
            TITLE, pairs=pairs, load=load, repeats=repeats, file=file, where=where, enough=ratios.narrow
        )
    outcome.finish(comparison, file, ratios.bench(comparison))


def _bench_against(there: Checkout, other: str, releases: list[Release], load: Load, repeats: int) -> None:
    """Measures each release beside the same release from `there`. `other` names the commit or the Python of `there`."""
    where = interleaved.environment()
    quick = repeats < FEWEST or load.duration_s < SECONDS
    file = folders.comparison(where, quick) / f"bench-against-{other.replace(' ', '-')}.json"
    comparison = duet.run(
        f"{TITLE}, {where.commit} against {other}",
        pairs=_beside_themselves(releases, there, other),
        load=load,
        repeats=repeats,
        file=file,
        where=where,
        against=other,
        enough=ratios.narrow,
    )
    outcome.finish(comparison, file, ratios.against(comparison))


def _beside_the_newest(only: tuple[str, ...], collector: str) -> list[Pair]:
    older = (release for release in Release if release != NEWEST)
    subjects = (*map(subject.release, older), _observed(collector))
    _check(only, [*(what.name for what in subjects), *peers.NAMES])
    wanted = [what for what in subjects if _wanted(what.name, only)]
    return duet.pairs(subject.release(NEWEST), wanted + peers.peers(lambda name: _wanted(name, only)))


def _observed(collector: str) -> AttackSubject:
    """Returns the newest release with metrics, traces of one webhook in a hundred, and the event loop's watchdog."""
    pushed = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_METRIC_EXPORT_INTERVAL": "1000"}
    return subject.release(NEWEST, f"{NEWEST} observed", APP_METRICS_PORT="0", APP_BLOCK_WARN="0.1", **pushed)


def _wanted(name: str, only: tuple[str, ...]) -> bool:
    return not only or name.startswith(only)


def _check(only: tuple[str, ...], names: Sequence[str]) -> None:
    """Raises ConfigurationError for a value of --only that is not the beginning of any name."""
    for name in only:
        if not any(one.startswith(name) for one in names):
            raise ConfigurationError(f"--only={name}: allowed is the beginning of {', '.join(names)}")


def _releases(only: tuple[str, ...]) -> list[Release]:
    """Returns the releases of --only, by default the newest. Raises ConfigurationError for an unknown release."""
    _check(only, subject.QUEUEING)
    return [release for release in subject.QUEUEING if _wanted(release, only or (NEWEST,))]


def _beside_themselves(releases: list[Release], there: Checkout, other: str) -> list[Pair]:
    """Pairs each release with its own copy, and with the same release from `there`. `other`: see `_bench_against`.

    Raises ConfigurationError if a release from `there` does not start.
    """
    pairs = []
    for release in releases:
        ours = subject.release(release)
        command = [str(there.python), *ours.command[1:]]
        theirs = replace(ours, name=f"{release} at {other}", command=command, folder=there.folder)
        trial.start(theirs)
        pairs += [*duet.pairs(ours, []), (ours, theirs)]
    return pairs
