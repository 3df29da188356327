"""Webhooks for demos and load tests: the samples of `loadtest/events`, and any number generated from them."""

import json
import re
import secrets
import string
from collections.abc import Iterator
from pathlib import Path

from app.errors import ConfigurationError

SAMPLES = Path(__file__).parents[1] / "loadtest" / "events"
# Six characters are the number of the event, the others distinguish runs.
_SHORTEST = 10
_RENAMABLE = re.compile(r"(\w+_)?[A-Za-z0-9-]{10,}", re.ASCII)
_ALPHABET = string.digits + string.ascii_letters


def sample_files() -> list[Path]:
    """The ten pending invoices and the four other events. Raises ConfigurationError where they are not shipped."""
    return [file for file in _shipped() if file.name != "default.json"]


def _shipped() -> list[Path]:
    if not SAMPLES.is_dir():
        raise ConfigurationError(f"the sample events are not here ({SAMPLES}): name a FILE")
    return sorted(SAMPLES.glob("*.json"))


def default_file() -> Path:
    """The body of the load test, as long as the published one. Raises ConfigurationError."""
    return next(file for file in _shipped() if file.name == "default.json")


def fresh_events_of(files: list[Path], count: int) -> Iterator[bytes]:
    """`count` fresh events, generated from the files in turn. Raises ConfigurationError."""
    shares = [fresh_events(file.read_bytes(), count // len(files) + 1) for file in files]
    return (next(shares[number % len(shares)]) for number in range(count))


def fresh_events(template: bytes, count: int) -> Iterator[bytes]:
    """`count` events like `template`, of the same size, each with its own event id (and invoice and customer id).

    Raises ConfigurationError where `template` is not an event or its ids are too short for that many.
    """
    ids = _ids(template)
    run = secrets.token_hex(20)
    for number in range(count):
        body = template
        for old in ids:
            body = body.replace(old.encode(), _renamed(old, run, number).encode())
        yield body


def _ids(template: bytes) -> list[str]:
    try:
        event = json.loads(template)
        invoice = event["content"].get("invoice", {})
        ids = [event["id"], *([invoice["id"]] if "id" in invoice else [])]
        # A customer has one pending invoice at a time, or two of them would compete for its billable events.
        customer = invoice.get("customer_id", "")
        return ids + ([customer] if _RENAMABLE.fullmatch(customer) else [])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigurationError("the template is not a Chargebee event") from None


def _renamed(old: str, run: str, number: int) -> str:
    """`ev_…`: the prefix is kept; of the rest, the last six digits are the number, the others distinguish runs."""
    prefix, mark, rest = old.rpartition("_")
    if len(rest) < _SHORTEST:
        raise ConfigurationError(f"the id {old} is too short for fresh ones: {_SHORTEST} characters behind its last _")
    counter = "".join(_ALPHABET[number // len(_ALPHABET) ** place % len(_ALPHABET)] for place in reversed(range(6)))
    return prefix + mark + run[: len(rest) - 6].ljust(len(rest) - 6, "0") + counter
