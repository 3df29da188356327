"""The service's peak memory while SQS breaks its answers: seven faults, each over TLS and plain.

late        SQS answers after the service's time-out
twice       SQS sends the same answer twice in a row
truncated   SQS closes the connection in the middle of the answer
drip        the answer comes byte by byte
close       a valid answer ends the connection
reset       SQS resets the connection in the middle of the answer
giant       answers of 32 MiB and of 900 KiB, each as 200 and as 404

Each fault has a service of its own, and users who send the next webhook after the response to the last one. Exits
with 1 if a peak is over 200 MiB, or if a webhook with a 200 is not in the queue as sent. Writes memory.json to
loadtest/results/<date>-<commit>.
"""

import tempfile
from collections import Counter
from pathlib import Path

import click
import psutil

from app.errors import ConfigurationError
from app.settings import NEWEST, Release
from loadtest import interleaved
from loadtest.failures import exit_on_failure
from loadtest.fire import progress, vegeta
from loadtest.fire.arrivals import Ledger
from loadtest.fire.measure import look
from loadtest.fire.precheck import check_one
from loadtest.fire.traffic import Traffic
from loadtest.interleaved import USERS
from loadtest.record import folders
from loadtest.record.memory import Memory, Mode
from loadtest.record.shapes import Load
from loadtest.report import memory as report
from loadtest.stage import subject
from loadtest.stage.budget import LIMITS, Budget
from loadtest.stage.budget.limits import MIB
from loadtest.stage.budget.process_tree import ProcessTree
from loadtest.stage.direct import DirectQueue, open_direct
from loadtest.stage.open_files import raise_limit
from loadtest.stage.stack import PASSWORD, USER
from loadtest.stage.subject import Running

RELEASES = [release.value for release in subject.QUEUEING]
SECONDS = 30.0
# With a short time-out, many answers are too late for it; dripping answers are, too, from four messages on.
IMPATIENT = {"APP_SQS_TIMEOUT": "1"}
LATE_MS = 1200
FAULTS: dict[str, tuple[dict[str, int | str], dict[str, str]]] = {  # planted in SQS, and the service's variables
    "late": ({"delay_ms": LATE_MS}, IMPATIENT),
    "twice": ({"answer": "twice"}, {}),
    "truncated": ({"answer": "truncated"}, {}),
    "drip": ({"answer": "drip"}, IMPATIENT),
    "close": ({"answer": "close"}, {}),
    "reset": ({"answer": "reset"}, {}),
    "giant": ({"answer": "giant"}, {}),
}


@click.command(help=__doc__.replace("\n\n", "\n\n\b\n", 1))
@click.option("--release", type=click.Choice(RELEASES), default=NEWEST.value, show_default=True)
@click.option("--seconds", type=click.FloatRange(1, 600), default=SECONDS, show_default=True, help="For each fault.")
@click.option("--users", type=click.IntRange(1, 1000), default=USERS, show_default=True)
@click.option("--only", multiple=True, type=click.Choice(list(FAULTS)), help="Only this fault (repeatable).")
def main(release: str, seconds: float, users: int, only: tuple[str, ...]) -> None:
    with exit_on_failure():
        load = interleaved.closed_loop(users, seconds)
        where = interleaved.environment()
        done = Memory(
            environment=where,
            command=interleaved.called(),
            release=release,
            users=users,
            seconds=seconds,
            modes=measure(Release(release), load, only or tuple(FAULTS)),
        )
        click.echo(report.text(done))
        file = folders.comparison(where, quick=bool(only) or seconds < SECONDS) / "memory.json"
        folders.write(file, done)
        click.echo(file)
    if failed := [mode.name for mode in done.modes if not mode.holds]:
        raise SystemExit(f"too much memory, or a failed audit: {'; '.join(failed)}")


def measure(release: Release, load: Load, faults: tuple[str, ...]) -> list[Mode]:
    """Each of `faults` over TLS and plain. Raises what `loadtest.fire.measure` raises."""
    raise_limit(load)
    modes = [(fault, tls) for fault in faults for tls in (True, False)]
    measured = []
    with progress.steps("memory", len(modes)) as step:
        for fault, tls in modes:
            step(f"{fault}, {'TLS' if tls else 'plain'}")
            with open_direct(tls=tls) as queue, tempfile.TemporaryDirectory() as folder:
                measured.append(_measure(release, load, fault, queue, Path(folder)))
    return measured


def _measure(release: Release, load: Load, fault: str, queue: DirectQueue, raw: Path) -> Mode:
    """The fault is planted after the webhook that checks that the service works."""
    planted, variables = FAULTS[fault]
    what = subject.release(release, **subject.BOUNDS, **variables)
    budget = ProcessTree(LIMITS["none"])
    arrived = Ledger(queue.process, queue.url)
    with subject.start(what, budget, queue.variables, raw / "service.log") as running:
        traffic = Traffic(running.url, USER, PASSWORD)
        check_one(traffic, arrived)
        queue.process.faults(**planted)
        vegeta.attack(load, fault, traffic, raw / "results.bin", lambda: None)
        peak_mib = _peak_mib(budget, running, fault)
        fired = look(traffic, arrived, raw)
    assert fired.audit is not None
    statuses = Counter(str(hit.code) for hit in fired.hits)
    return Mode(fault=fault, tls=queue.tls, statuses=dict(statuses), peak_mib=peak_mib, audit=fired.audit)


def _peak_mib(budget: Budget, running: Running, fault: str) -> float:
    """Raises ChildProcessError if the service has ended, ConfigurationError if the system has no VmHWM."""
    if psutil.Process(running.pid).status() == psutil.STATUS_ZOMBIE:
        raise ChildProcessError(f"the service has ended under the fault {fault}")
    peak = budget.peak_bytes()
    if peak is None:
        raise ConfigurationError("the peak of memory is VmHWM of /proc, which only Linux has")
    return peak / MIB
