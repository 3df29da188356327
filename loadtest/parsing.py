"""The cost of parsing a webhook in the ways that services use: microseconds, and ratios within this run."""

import json
import statistics
import timeit
from collections.abc import Callable

import click

from app.events import Event, parse_event
from local.sample_events import default_file

WANTED = frozenset({"pending_invoice_created"})
ROUNDS = 2000


def ways(body: bytes) -> dict[str, Callable[[], object]]:
    """Each turns the received bytes into an event and the text to send."""
    return {
        "once: model_validate_json, send the received bytes": lambda: (parse_event(body, WANTED), body.decode()),
        "as FastAPI does: json.loads, then validate": lambda: (Event.model_validate(json.loads(body)), body.decode()),
        "twice: validate, then json.loads and json.dumps to send": lambda: (
            Event.model_validate(json.loads(body)),
            json.dumps(json.loads(body)),
        ),
    }


@click.command(help=__doc__)
@click.option("--repeats", type=click.IntRange(1), default=7, show_default=True)
def main(repeats: int) -> None:
    measured: dict[str, list[float]] = {name: [] for name in ways(b"{}")}
    for _ in range(repeats):
        for name, way in ways(default_file().read_bytes()).items():
            measured[name].append(timeit.timeit(way, number=ROUNDS) / ROUNDS * 1e6)
    medians = {name: statistics.median(times) for name, times in measured.items()}
    fastest = min(medians.values())
    for name, median in medians.items():
        spread = f"{min(measured[name]):.0f} to {max(measured[name]):.0f}"
        print(f"{median:6.0f} µs  ({spread})  {median / fastest:4.1f} ×  {name}")
