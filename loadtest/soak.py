"""Sends a million webhooks to the newest release while the service is killed and SQS fails. Audits every byte.

The service is killed (SIGKILL) or stopped (SIGTERM), and starts again on the same port. SQS hangs, throttles, fails,
responds slowly or is unreachable. SQS's connections are reset, and its responses are lost or truncated. A seed decides
which fault happens when, so the same seed gives the same faults. Writes soak.json to loadtest/results/<date>-<commit>.
"""

import random
from pathlib import Path

import click

from app import open_files
from app.settings import NEWEST
from loadtest import interleaved
from loadtest.failures import exit_on_failure
from loadtest.fire import progress, vegeta
from loadtest.fire.arrivals import arrivals
from loadtest.fire.attack_measurement import look
from loadtest.fire.faults import FaultInjector
from loadtest.fire.precheck import check_one
from loadtest.fire.supervised import Supervised
from loadtest.fire.traffic import Traffic
from loadtest.interleaved import SQS_LATENCY_S
from loadtest.record import folders
from loadtest.record.shapes import Load
from loadtest.record.soak_record import Soak
from loadtest.report import soak_report as report
from loadtest.stage import subject, toxiproxy
from loadtest.stage.stack import PASSWORD, USER, open_stack

WEBHOOKS = 1_000_000  # a run with fewer webhooks is a trial run, which documents do not use


@click.command(help=__doc__)
@click.option("--webhooks", type=click.IntRange(1000), default=WEBHOOKS, show_default=True)
@click.option("--rate", type=click.IntRange(1, 100_000), default=1000, show_default=True, help="Webhooks a second.")
@click.option("--seed", type=int, help="[default: a random one, which is printed]")
def main(webhooks: int, rate: int, seed: int | None) -> None:
    with exit_on_failure():
        seed = random.SystemRandom().randrange(2**32) if seed is None else seed
        click.echo(f"--seed {seed}")
        file = folders.comparison(interleaved.environment(), webhooks < WEBHOOKS) / "soak.json"
        done = soak(webhooks, rate, seed, folders.raw(file, "soak", NEWEST, 0))
        click.echo(report.text(done))
        folders.write(file, done)
        click.echo(file)
    if not done.audit.holds:
        raise SystemExit("the audit failed")


def soak(webhooks: int, rate: int, seed: int, raw: Path) -> Soak:
    """Runs a soak test. Writes vegeta's results and the service's log to the folder `raw`.

    Raises the same errors as `loadtest.fire.attack_measurement`.
    """
    load = Load(rate=rate, duration_s=webhooks / rate, timeout_s=30)
    where = interleaved.environment()
    raw.mkdir(parents=True, exist_ok=True)
    # `file_limits` would require more files than needed, because it assumes that no request ends before its time-out.
    open_files.raise_limit()
    with open_stack("stand-in", [toxiproxy.latency(SQS_LATENCY_S)]) as stack:
        queue_url = stack.new_queue()
        service = Supervised(
            subject.release(NEWEST, **subject.BOUNDS), stack.environment(queue_url), raw / "service.log"
        )
        with service, arrivals(stack, queue_url) as arrived, progress.attack("soak", load) as shown:
            traffic = Traffic(service.url, USER, PASSWORD)
            check_one(traffic, arrived)
            shown.phase("sending")
            with FaultInjector(stack, service, seed) as faults:
                vegeta.attack(load, "soak", traffic, raw / "results.bin", lambda: shown.sent(len(traffic.sent)))
            shown.phase("auditing")
            fired = look(traffic, arrived, raw)
    return report.of(where, seed, load, fired=fired, faults=faults.planted, service=service)
