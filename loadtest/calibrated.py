"""Replays the published attack in dilated time, so that this machine is as fast as the published one.

A quota can only slow a machine, so time is stretched instead: by the factor f, every rate is divided by f, every
duration, time-out and latency is multiplied by it, and results are converted back. f is the published throughput of
v02_blocking ÷ the one measured here first. v02 because it sends one webhook at a time, on the event loop: its
throughput depends least on threads, pools and the queue's concurrency (threads of its dependency connect meanwhile).
The CA bundle is the second parameter, and fixed as well: as many CAs as load in the time that all of them took under
OpenSSL 1.1.1. (That the published image had it is inferred from its time, not known.)

Writes calibrated.json (with --plain: calibrated-plain.json) to loadtest/results/<date>-<commit>.
"""

from statistics import median

import click

from app.settings import Release
from loadtest import interleaved
from loadtest.failures import exit_on_failure
from loadtest.interleaved import SQS_LATENCY_S, Case, Sqs
from loadtest.record import folders
from loadtest.record.shapes import Load
from loadtest.report import tables
from loadtest.report.figures import PUBLISHED
from loadtest.stage import subject

SPEED = Release.V02_BLOCKING


def dilated(factor: float) -> Load:
    """The published attack."""
    return Load(rate=round(500 / factor), duration_s=5 * factor, timeout_s=30 * factor)


@click.command(help=__doc__)
@click.option("--repeats", type=click.IntRange(1, 50), default=5, show_default=True)
@click.option("--plain", is_flag=True, help="SQS without TLS.")
@click.option("--factor", type=click.FloatRange(0.2, 5), help="Instead of measuring it.")
def main(repeats: int, plain: bool, factor: float | None) -> None:
    with exit_on_failure():
        where = interleaved.environment()
        file = folders.comparison(where) / ("calibrated-plain.json" if plain else "calibrated.json")
        sqs = Sqs(SQS_LATENCY_S, plain, "openssl-1.1")
        if factor is None:
            case = Case("speed", subject.release(SPEED), "burst", dilated(1))
            speed = interleaved.run("calibrated: speed", [case], 3, file.with_suffix(".speed.json"), where, sqs=sqs)
            factor = PUBLISHED[SPEED]["rps"] / median(run.measurement.rps for run in speed.runs)
            print(f"f = {factor:.3f}")
        timeout = {"APP_SQS_TIMEOUT": f"{10 * factor:.2f}", "APP_BODY_TIMEOUT": f"{10 * factor:.2f}"}
        subjects = [subject.release(release, **timeout) for release in subject.QUEUEING]
        cases = [Case("calibrated", what, "burst", dilated(factor)) for what in subjects]
        slow = sqs._replace(latency_s=SQS_LATENCY_S * factor)
        comparison = interleaved.run("calibrated: published time", cases, repeats, file, where, sqs=slow, factor=factor)
        interleaved.finish(comparison, file, tables.calibrated(comparison))
