"""Draws the course's pictures of load tests: when each request was sent, and the latency of its response.

    python -m profiles.latencies [NAME …]

Builds the load test's tools if they are missing.
"""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import altair as alt
import click

from app import open_files
from app.settings import Release
from loadtest import interleaved
from loadtest.failures import exit_on_failure
from loadtest.fire import vegeta
from loadtest.fire.attack_measurement import measure
from loadtest.record.shapes import Load
from loadtest.report import over_time, overload_report, request_charts
from loadtest.report.charts import Spec
from loadtest.report.request_charts import Deadline, Requests
from loadtest.stage import subject, tools, toxiproxy
from loadtest.stage.stack import open_stack

HERE = Path(__file__).parent


class Picture(NamedTuple):
    """A picture of one `load` under several settings. `variables`: each setting's name and environment variables."""

    title: alt.Title
    release: Release
    budget: str
    load: Load
    variables: Mapping[str, dict[str, str]]
    deadline: Deadline | None = None


PICTURES = {
    "pool_of_ten": Picture(
        alt.Title(
            "The pool of ten: v07 on a quarter of a core, 64 users",
            subtitle=[
                "Dots: webhooks. Diamonds: probes of /healthz. Each user sends the next webhook after the answer."
            ],
        ),
        Release.V07_SYNC_HANDLER,
        "capped",
        interleaved.closed_loop(interleaved.USERS, 20),
        {
            "boto3's ten connections, as published": {},
            "APP_SQS_MAX_CONNECTIONS=200": {"APP_SQS_MAX_CONNECTIONS": "200"},
        },
    ),
    "a_deadline_for_waiting": Picture(
        alt.Title(
            "A deadline for waiting: v09 on a quarter of a core, over its capacity",
            subtitle=[
                "Dots: webhooks. Diamonds: probes of /healthz. Crosses: probes without an answer.",
                "Left: each webhook waits for longer than the one before, until memory ends (APP_MAX_WAIT=0,",
                "APP_SQS_TIMEOUT=60, APP_MAX_IN_FLIGHT=20000, APP_MAX_BUFFERED_BYTES=1000000000).",
                "Right: the service answers 503 at once to a webhook that would wait for longer than 5 s.",
            ],
        ),
        Release.V09_GROUP_COMMIT,
        "capped",
        Load(rate=1000, duration_s=60, timeout_s=90),
        {
            "four limits switched off or raised": {
                "APP_MAX_WAIT": "0",
                "APP_SQS_TIMEOUT": "60",
                "APP_MAX_IN_FLIGHT": "20000",
                "APP_MAX_BUFFERED_BYTES": "1000000000",
            },
            "as deployed": subject.BOUNDS,
        },
        Deadline(20, "Chargebee times out"),
    ),
}


@click.command(help=__doc__)
@click.argument("names", nargs=-1, type=click.Choice(list(PICTURES)))
def main(names: tuple[str, ...]) -> None:
    with exit_on_failure():
        tools.provide(*interleaved.TOOLS)
        for name in names or PICTURES:
            over_time.write(_drawn(PICTURES[name]), HERE, name)
        click.echo("to open: " + " ".join(f"profiles/{name}-light.png" for name in names or PICTURES))


def _drawn(picture: Picture) -> Spec:
    attacks: dict[str, Requests] = {}
    rows = []
    open_files.raise_limit()  # not `file_limits`, because most webhooks end before the last one begins
    for name, variables in picture.variables.items():
        click.echo(f"{picture.title.text}: {name} …")
        with TemporaryDirectory() as raw, open_stack("auto", [toxiproxy.latency(interleaved.SQS_LATENCY_S)]) as stack:
            what = subject.release(picture.release, name, **variables)
            measured = measure(stack, what, picture.budget, picture.load, out=Path(raw))
            attacks[name] = over_time.requests(Path(raw))
            rows.append(overload_report.row(name, measured, sorted(vegeta.hits(Path(raw) / "results.bin"))))
        for doubt in measured.conditions.doubts if measured.conditions else ():
            click.echo(f"DOUBTFUL: {doubt}")
    click.echo(overload_report.table(rows))
    return request_charts.side_by_side(attacks, picture.title, picture.deadline)


if __name__ == "__main__":
    main()
