"""Measures the CPU time of parsing a webhook in three usual ways.

Also measures pydantic and msgspec with webhooks of four lengths. Prints microseconds, and the ratio to the fastest way.
"""

import json
import statistics
import timeit
from collections.abc import Callable
from time import process_time

import click

from app import lean_events
from app.events import Event, parse_event
from local.sample_events import SAMPLES, default_file

WANTED = frozenset({"pending_invoice_created"})
ROUNDS = 1000
Ways = dict[str, Callable[[], object]]


def ways(body: bytes) -> Ways:
    """Returns functions, by name, that convert the received bytes into an event and the text of the queue's message."""
    return {
        "once: model_validate_json, send the received bytes": lambda: (parse_event(body, WANTED), body.decode()),
        "as FastAPI does: json.loads, then validate": lambda: (Event.model_validate(json.loads(body)), body.decode()),
        "twice: validate, then json.loads and json.dumps to send": lambda: (
            Event.model_validate(json.loads(body)),
            json.dumps(json.loads(body)),
        ),
    }


def models(body: bytes) -> Ways:
    """Returns functions, by name, that parse the event in `body`: with pydantic, and with msgspec."""
    return {
        f"pydantic, {len(body):,} bytes": lambda: parse_event(body, WANTED),
        f"msgspec, {len(body):,} bytes": lambda: lean_events.parse_event(body, WANTED),
    }


def bodies() -> list[bytes]:
    """Returns four events: no invoice (0.2 kB), no line items (2 kB), the default (6 kB), 45 line items (50 kB)."""
    short = json.loads(default_file().read_bytes()) | {"event_type": "other", "content": {}}
    long = json.loads((SAMPLES / "pending_invoice_created_05_sixty_line_items.json").read_bytes())
    for name, value in long["content"]["invoice"].items():
        long["content"]["invoice"][name] = value[:45] if isinstance(value, list) else value
    middle = (SAMPLES / "pending_invoice_created_01_no_line_items.json").read_bytes()
    return [json.dumps(short).encode(), middle, default_file().read_bytes(), json.dumps(long).encode()]


@click.command(help=__doc__)
@click.option("--repeats", type=click.IntRange(1), default=7, show_default=True)
def main(repeats: int) -> None:
    for group in (ways(default_file().read_bytes()), *map(models, bodies())):
        _compare(group, repeats)


def _compare(group: Ways, repeats: int) -> None:
    """Prints the functions' times. Measures them in turns, so that a busy machine affects all equally."""
    measured: dict[str, list[float]] = {name: [] for name in group}
    for _ in range(repeats):
        for name, way in group.items():
            measured[name].append(timeit.timeit(way, timer=process_time, number=ROUNDS) / ROUNDS * 1e6)
    medians = {name: statistics.median(times) for name, times in measured.items()}
    fastest = min(medians.values())
    for name, median in medians.items():
        spread = f"{min(measured[name]):.1f} to {max(measured[name]):.1f}"
        print(f"{median:6.1f} µs  ({spread})  {median / fastest:4.1f} ×  {name}")
    print()
