"""Provides webhooks for demos and load tests: the files in `loadtest/events`, and webhooks generated from a file."""

import json
import re
import secrets
import string
from collections.abc import Iterator
from pathlib import Path

from app.errors import ConfigurationError

SAMPLES = Path(__file__).parents[1] / "loadtest" / "events"
# Only ids with at least this many characters (without a prefix such as `ev_`) are replaced by new ids. A new id ends
# with six characters for the copy's number. The characters before them are random, so that ids differ between runs.
_SHORTEST = 10
_RENAMABLE = re.compile(r"(\w+_)?[A-Za-z0-9-]{10,}", re.ASCII)
_ALPHABET = string.digits + string.ascii_letters


def sample_files() -> list[Path]:
    """Returns the files of the sample events: ten webhooks about pending invoices, and four about other things.

    Raises ConfigurationError if the sample events are not installed.
    """
    return [file for file in _shipped() if file.name != "default.json"]


def _shipped() -> list[Path]:
    if not SAMPLES.is_dir():
        raise ConfigurationError(f"the sample events are not installed ({SAMPLES}): pass a file as FILE")
    return sorted(SAMPLES.glob("*.json"))


def default_file() -> Path:
    """Returns the file of the load test's webhook, which is as large as the webhook of the published load test.

    Raises ConfigurationError if the file is not installed.
    """
    return next(file for file in _shipped() if file.name == "default.json")


def fresh_events_of(files: list[Path], count: int) -> Iterator[bytes]:
    """Yields `count` events: copies of each file in turn, with new ids. Raises the errors of `fresh_events`."""
    shares = [_fresh_events(str(file), file.read_bytes(), count // len(files) + 1) for file in files]
    return (next(shares[number % len(shares)]) for number in range(count))


def _fresh_events(name: str, template: bytes, count: int) -> Iterator[bytes]:
    try:
        yield from fresh_events(template, count)
    except ConfigurationError as error:
        raise ConfigurationError(f"{name}: {error}") from None


def fresh_events(template: bytes, count: int) -> Iterator[bytes]:
    """Yields `count` copies of `template`, each with new ids of the event and the invoice.

    The customer's id is also new if it matches _RENAMABLE. All copies have the same size as `template`, because a new
    id is as long as the old id. Raises ConfigurationError if `template` is not an event, or if the id of the event or
    of the invoice is too short.
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
        # The customer's id is replaced as well, so that each invoice has its own customer. Otherwise, two pending
        # invoices would compete for the billable events of one customer.
        customer = invoice.get("customer_id", "")
        if not all(isinstance(old, str) for old in ids):
            raise TypeError("an id is no text")
        return ids + ([customer] if _RENAMABLE.fullmatch(customer) else [])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ConfigurationError("the file is not a Chargebee event in JSON with the fields id and content") from None


def _renamed(old: str, run: str, number: int) -> str:
    """Returns a new id: the prefix of `old` (such as `ev_`), characters of `run`, and six characters for `number`."""
    prefix, mark, rest = old.rpartition("_")
    if len(rest) < _SHORTEST:
        raise ConfigurationError(
            f"the id {old} is too short to generate new ids: it needs at least {_SHORTEST} characters after its last _"
        )
    counter = "".join(_ALPHABET[number // len(_ALPHABET) ** place % len(_ALPHABET)] for place in reversed(range(6)))
    return prefix + mark + run[: len(rest) - 6].ljust(len(rest) - 6, "0") + counter
