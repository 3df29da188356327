"""Counts the webhooks that v01 has billed, for the audit. A webhook counts if its invoice is closed."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Self

from loadtest.fire.traffic import Traffic, digest
from loadtest.stage.billing_stage import BillingStack
from loadtest.stage.stack import PASSWORD, USER
from local import seeding
from local.http import ask
from local.sample_events import default_file, fresh_events

WRONG = b"closed with other charges than there are to bill"


def seeded(stack: BillingStack, count: int) -> list[bytes]:
    """Returns `count` webhooks. Puts their invoices into Chargebee's stand-in, and their usage into the table."""
    bodies = list(fresh_events(default_file().read_bytes(), count))
    seeding.seed(stack.run, bodies)
    return bodies


class Invoices:
    """An `Arrivals` for v01, which has no queue: counts closed invoices instead of messages.

    A closed invoice that has exactly the expected charges counts under the digest of its webhook. A closed invoice with
    other charges counts under WRONG.
    """

    def __init__(self, stack: BillingStack, bodies: list[bytes]) -> None:
        self.received: Counter[bytes] = Counter()
        self._url = stack.chargebee.url
        self._bodies = bodies
        self._expected: dict[str, tuple[bytes, list[tuple[str, int]]]] = {}
        for body in bodies:
            event = json.loads(body)
            wanted = sorted((one.id, one.amount) for one in seeding.charges(event))
            self._expected[event["content"]["invoice"]["id"]] = (digest(body), wanted)
        self._forgotten: Counter[bytes] = Counter()

    def traffic(self, url: str) -> Traffic:
        """Returns traffic that consists of the seeded webhooks only."""
        return Traffic(url, USER, PASSWORD, iter(self._bodies))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def wait(self, complete: Callable[[Counter[bytes]], bool]) -> None:
        """Reads the invoices once, without waiting, because v01 closes an invoice before the webhook gets its 200."""
        self.received = Counter(filter(None, map(self._digest, self._audited()))) - self._forgotten

    def forget(self, digest: bytes) -> int:
        """See `Arrivals`."""
        found = self.received.pop(digest, 0)
        self._forgotten[digest] += found
        return found

    def _digest(self, invoice: dict[str, Any]) -> bytes | None:
        """Returns the invoice's key in `received`. None if the invoice is open or of another attack."""
        expected = self._expected.get(invoice["id"])
        if expected is None or invoice["closed_at"] is None:
            return None
        body, wanted = expected
        charged = sorted((str(charge["billable"]), charge["amount"]) for charge in invoice["charges"])
        return body if charged == wanted else WRONG

    def _audited(self) -> list[dict[str, Any]]:
        """Returns all invoices of the stand-in. Raises ConfigurationError if the stand-in does not respond."""
        found: list[dict[str, Any]] = json.loads(ask(self._url, "/_/audit"))["invoices"]
        return found
