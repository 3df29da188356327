"""How many calls to SQS in flight: APP_SQS_BATCHES of 1 to 16 beside the default, at several latencies of SQS.

In duets, at saturation on a quarter of a core, under the newest release. Writes calls-<latency>.json to
loadtest/results/<date>-<commit>.
"""

from dataclasses import replace

import click

from app.settings import NEWEST, WebSettings
from loadtest import duet, interleaved, outcome
from loadtest.failures import exit_on_failure
from loadtest.interleaved import USERS, Sqs
from loadtest.record import folders
from loadtest.report import ratios
from loadtest.stage import subject

DEFAULT = WebSettings.model_fields["sqs_batches"].default
NUMBERS = (1, 2, 8, 16)
LATENCIES_MS = (5, 10, 20, 50)
REPEATS, SECONDS = 4, 4


@click.command(help=__doc__)
@click.option("--repeats", type=click.IntRange(1, 50), default=REPEATS, show_default=True)
@click.option("--seconds", type=click.FloatRange(1, 600), default=SECONDS, show_default=True, help="Of each attack.")
def main(repeats: int, seconds: float) -> None:
    with exit_on_failure():
        where = interleaved.environment()
        reference = subject.release(NEWEST, f"{DEFAULT} calls", APP_SQS_BATCHES=str(DEFAULT))
        others = [
            replace(reference, name=f"{number} calls", flags=reference.flags | {"APP_SQS_BATCHES": str(number)})
            for number in NUMBERS
        ]
        for latency in LATENCIES_MS:
            file = folders.comparison(where, quick=repeats < REPEATS or seconds < SECONDS) / f"calls-{latency}ms.json"
            comparison = duet.run(
                f"calls: {latency} ms of latency",
                pairs=duet.pairs(reference, others),
                load=interleaved.closed_loop(USERS, seconds),
                repeats=repeats,
                file=file,
                where=where,
                sqs=Sqs(latency / 1000),
            )
            click.echo(f"\nSQS with {latency} ms of added latency\n")
            outcome.finish(comparison, file, ratios.bench(comparison))
