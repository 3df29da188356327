"""Measures the newest release above its capacity.

First measures the capacity of the release on a quarter of a core, in webhooks a second: 64 users attack in a closed
loop. Then attacks the release with two and three times this rate in an open loop. In these attacks, the release
limits the number of webhooks in flight, the number of connections and the time of waiting, as a deployment does.

Also compares the CPU time of a 503 with the CPU time of a response by the floor (uvicorn alone). Finally, lets 512
users connect at once: to the newest release, and to v10, whose server accepts only one connection in each iteration of
the event loop. During all attacks, probes /healthz on new connections. Writes overload.json to
loadtest/results/<date>-<commit>.
"""

import click

from app import open_files
from app.settings import NEWEST, Release
from loadtest import interleaved, outcome
from loadtest.failures import exit_on_failure
from loadtest.fire import vegeta
from loadtest.fire.attack_measurement import measure
from loadtest.interleaved import SQS_LATENCY_S, USERS, closed_loop
from loadtest.record import folders
from loadtest.record.comparison import Run
from loadtest.record.shapes import Load, Measurement
from loadtest.report import overload_report as report
from loadtest.stage import subject, toxiproxy
from loadtest.stage.peers import floor
from loadtest.stage.stack import open_stack
from loadtest.stage.subject import AttackSubject

NEWCOMERS = 512


class Overload:
    """Runs the attacks, one after the other, and collects a row of the table for each."""

    def __init__(self, quick: bool) -> None:
        self.where = interleaved.environment()
        self.file = folders.comparison(self.where, quick) / "overload.json"
        self.runs: list[Run] = []
        self.rows: list[list[str]] = []

    def attack(
        self, kind: str, what: AttackSubject, budget: str, load: Load, latency_s: float = SQS_LATENCY_S
    ) -> Measurement:
        """Measures `what` and adds a row to the table. `latency_s`: the latency of SQS in seconds."""
        print(f"{kind}: {what.name} …", flush=True)
        # `file_limits` would require more files than needed, because a 503 soon ends most requests.
        open_files.raise_limit()
        raw = folders.raw(self.file, kind.replace(" ", "_"), what.name, 0)
        with open_stack("auto", [toxiproxy.latency(latency_s)]) as stack:
            measured = measure(stack, what, budget, load, out=raw)
        self.runs.append(Run(kind=kind, repeat=0, measurement=measured))
        self.rows.append(report.row(f"{kind}, {what.name}", measured, sorted(vegeta.hits(raw / "results.bin"))))
        return measured

    def finish(self) -> None:
        comparison = interleaved.write("overload", self.runs, 1, self.file, self.where)
        outcome.finish(comparison, self.file, report.table(self.rows))


def overloaded(overload: Overload, seconds: float) -> None:
    """Measures the capacity, and the rate of accepted webhooks at two and at three times the capacity."""
    newest = subject.release(NEWEST, **subject.BOUNDS)
    capacity = report.per_second(overload.attack("capacity", newest, "capped", closed_loop(USERS, 10)))
    for factor in (2, 3):
        load = Load(rate=round(factor * capacity), duration_s=seconds, timeout_s=30)
        measured = overload.attack(f"{factor} x capacity", newest, "capped", load)
        overload.rows[-1][1] += f" ({100 * report.per_second(measured) / capacity:.0f} % of the capacity)"


def refusals(overload: Overload) -> None:
    """Measures the CPU time of a 503, and of a response by the floor.

    Only one webhook may be in flight, and SQS takes 500 ms for it, so nearly all other webhooks get a 503.
    """
    load = closed_loop(USERS, 5)
    refusing = overload.attack(
        "refusals",
        subject.release(NEWEST, **subject.BOUNDS | {"APP_MAX_IN_FLIGHT": "1"}),
        "capped",
        load,
        latency_s=0.5,
    )
    nothing = overload.attack("do nothing", floor(), "capped", load)
    costs = [1e6 * measured.used.cpu_s / measured.requests for measured in (refusing, nothing) if measured.used]
    for number, cost in zip((-2, -1), costs, strict=True):
        overload.rows[number][1] += f" ({cost:.0f} µs of CPU an answer)"


def newcomers(overload: Overload) -> None:
    """Measures the latency if many users connect at once."""
    newest = subject.release(NEWEST)
    for budget in ("capped", "burst"):
        for what in (newest, subject.release(Release.V10_LEAN_CLIENT)):
            overload.attack(f"{NEWCOMERS} users, {budget}", what, budget, closed_loop(NEWCOMERS, 30))


SECONDS = 60


@click.command(help=__doc__)
@click.option("--seconds", type=click.FloatRange(2, 600), default=SECONDS, show_default=True, help="Of each overload.")
@click.option("--only", type=click.Choice(["overload", "refusals", "newcomers"]), help="Only this part.")
def main(seconds: float, only: str | None) -> None:
    with exit_on_failure():
        overload = Overload(quick=only is not None or seconds < SECONDS)
        if only in (None, "overload"):
            overloaded(overload, seconds)
        if only in (None, "refusals"):
            refusals(overload)
        if only in (None, "newcomers"):
            newcomers(overload)
        overload.finish()
