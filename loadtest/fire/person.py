"""Simulates a person who changes invoices at Chargebee's stand-in while workers bill them.

The person closes or deletes a pending invoice, or voids a closed invoice. After deleting or voiding, the person
regenerates the invoice of each subscription, and the load test sends the events of the new invoices, as Chargebee does.
"""

import http.client
import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from loadtest.fire.deliveries import Deliveries, message
from loadtest.stage.worker_stack import WorkerStack
from local.chargebee.terms import terms

ONE_IN = 50  # the person changes one invoice in 50
SECONDS = 60
_DEEDS = {"pending": ("close", "delete"), "charging": ("close", "delete"), "closed": ("void",)}


@dataclass(frozen=True)
class Deed:
    """A change that a person has made to an invoice. `what`: `close`, `delete` or `void`.

    `successors`: the id of the regenerated invoice, by subscription. `events`: the ids of the new invoices' events.
    """

    what: str
    invoice_id: str
    successors: dict[str, str] = field(default_factory=dict)
    events: frozenset[str] = frozenset()


class Person:
    """Changes one invoice in ONE_IN. `deeds`: the changes so far, by the invoice's id."""

    def __init__(self, stage: WorkerStack, planned: Deliveries, seed: int) -> None:
        self.deeds: dict[str, Deed] = {}
        self._chargebee, self._send = stage.run.chargebee, stage.send
        self._planned = {event["content"]["invoice"]["id"]: event["content"]["invoice"] for event in planned.events}
        self._random = random.Random(seed)  # noqa: S311  # no secret

    def act(self, invoices: Iterable[dict[str, Any]], progress: float) -> None:
        """Makes the changes that are due. `invoices`: summaries of all invoices.

        `progress`: the share of the workers' work that is done (0 to 1).
        """
        due = int(len(self._planned) / ONE_IN * progress) - len(self.deeds)
        if due <= 0:
            return
        free = [one for one in invoices if one["id"] in self._planned and one["id"] not in self.deeds]
        stages = {stage: [one for one in free if one["stage"] == stage] for stage in _DEEDS}
        for _ in range(due):
            # Choose the stage before the invoice. Otherwise, the person would rarely change an invoice in the stage
            # `charging`, because few invoices are in this stage at any time.
            stage = self._random.choice([stage for stage, some in stages.items() if some] or [""])
            if not stage:
                return
            one = stages[stage].pop(self._random.randrange(len(stages[stage])))
            self._try(self._random.choice(_DEEDS[stage]), one)

    def is_done(self) -> bool:
        return len(self.deeds) >= int(len(self._planned) / ONE_IN)

    def _try(self, what: str, summary: dict[str, Any]) -> None:
        """Changes the invoice. Does nothing if a worker has changed the invoice's stage, or is changing it now."""
        invoice_id = summary["id"]
        if self._by_hand("POST", f"invoices/{quote(summary['number'] or invoice_id, '')}/{what}") is None:
            return
        # Record the deed first, because the stand-in has changed the invoice even if the next calls fail.
        self.deeds[invoice_id] = Deed(what, invoice_id)
        if what == "close":
            return
        invoice = self._planned[invoice_id]
        made = {name: self._regenerated(name) for name in terms(invoice, invoice["line_items"])}
        events = {name: self._event(new) for name, new in made.items()}
        self.deeds[invoice_id] = Deed(what, invoice_id, made, frozenset(one["id"] for one in events.values()))
        self._send([message(event) for event in events.values()])

    def _regenerated(self, subscription_id: str) -> str:
        made = self._by_hand("POST", f"subscriptions/{quote(subscription_id, '')}/regenerate_invoice")
        if made is None:
            raise RuntimeError(f"Chargebee's stand-in did not regenerate the invoice of {subscription_id}")
        return str(made["invoice"]["id"])

    def _event(self, invoice_id: str) -> dict[str, Any]:
        params = {"source[is]": "admin_console", "limit": 100}
        listed = self._by_hand("GET", f"events?{urlencode(params)}") or {"list": []}
        events = (entry["event"] for entry in listed["list"])
        return next(event for event in events if event["content"]["invoice"]["id"] == invoice_id)

    def _by_hand(self, method: str, path: str) -> Any:
        """Sends a request to the stand-in. Returns the response, or None if the stand-in has rejected the request."""
        connection = http.client.HTTPConnection(urlsplit(self._chargebee).netloc, timeout=SECONDS)
        try:
            connection.request(method, f"/_/by_hand/{path}")
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        return json.loads(content) if response.status == HTTPStatus.OK else None
