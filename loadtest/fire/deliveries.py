"""Generates the messages for the worker's queue: events of pending invoices, and messages that can never succeed.

Some events are sent again, or in the wrong order.
"""

import json
import random
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from app.events import Event
from app.sqs.message import Message, to_message
from loadtest.fire import hostile
from local.sample_events import default_file
from local.seeding import charges
from local.usage import SeededBillable


class Mix(NamedTuple):
    """Shares of the messages; `hostile`: names and ids are those of `loadtest.fire.hostile`."""

    again: float
    too_late: float
    poison: float
    hostile: bool


ODD = Mix(0.10, 0.05, 0.01, hostile=True)
PLAIN = Mix(0, 0, 0, hostile=False)
# The reasons with which messages that can never succeed are in the dead-letter queue.
NO_EVENT, NO_INVOICE = "not_an_event", "invoice_not_found"


@dataclass(frozen=True)
class Deliveries:
    """`messages`, in the order in which they are sent. `events`: the newest one of each invoice that exists.

    `billables`: what is in the table. `charges`: of each of these invoices, ids and amounts of what is to be charged.
    `poison`: the ids of the events that never can succeed, with the reason.
    """

    messages: list[Message]
    events: list[dict[str, Any]]
    billables: list[SeededBillable]
    charges: dict[str, list[tuple[str, int]]]
    poison: dict[str, str]
    again: int
    too_late: int


@dataclass
class _Making:
    """`sent`: pairs of place in the order, a number between 0 and 1, and message."""

    random: random.Random
    template: dict[str, Any]
    run: str = field(default_factory=lambda: secrets.token_hex(4))
    sent: list[tuple[float, Message]] = field(default_factory=list)
    number: int = 0

    def event(self, invoice_id: str, *, older: int = 0) -> dict[str, Any]:
        """A fresh event about that invoice, `older` versions before its newest."""
        self.number += 1
        invoice = self.template["content"]["invoice"]
        changed = {
            "id": invoice_id,
            "customer_id": f"customer-{invoice_id}",
            "resource_version": invoice["resource_version"] - older,
        }
        content = {**self.template["content"], "invoice": {**invoice, **changed}}
        return {**self.template, "id": f"ev_{self.run}_{self.number:06d}", "content": content}

    def send(self, event: dict[str, Any], at: float) -> None:
        body = json.dumps(event).encode()
        self.sent.append((at, to_message(Event.model_validate_json(body), body, fifo=False)))


def deliveries(number: int, seed: int, mix: Mix = ODD) -> Deliveries:
    """Generates `number` messages for the worker's queue.

    The same seed gives the same order, and the same choice of messages that are repeated, too late or poisonous. The
    ids are new in each call. So are the charges, because they depend on the ids.
    """
    making = _Making(random.Random(seed), json.loads(default_file().read_bytes()))  # noqa: S311  # no secret
    again, too_late, poison = (round(number * share) for share in mix[:3])
    newest = [making.event(f"draft_inv_{making.run}_{n:06d}") for n in range(number - again - too_late - poison)]
    wanted = {event["content"]["invoice"]["id"]: charges(event) for event in newest}
    others: list[SeededBillable] = []
    if mix.hostile:
        source = random.Random(seed)  # noqa: S311  # its own: how much it draws depends on the ids, which are fresh
        for event in newest:
            invoice = event["content"]["invoice"]
            wanted[invoice["id"]] = hostile.renamed(wanted[invoice["id"]], source)
            others += hostile.outside(invoice)
            invoice["line_items"] = hostile.lines(invoice, wanted[invoice["id"]], source)
    places = [making.random.random() for _ in newest]
    for event, at in zip(newest, places, strict=True):
        making.send(event, at)
    for event, at in making.random.sample(list(zip(newest, places, strict=True)), too_late):
        making.send(making.event(event["content"]["invoice"]["id"], older=1), _between(making.random, at, 1))
    for at, message in making.random.sample(making.sent, again):
        making.sent.append((_between(making.random, at, 1), message))
    never = dict(_poison(making, poison))
    making.sent.sort(key=lambda one: one[0])
    return Deliveries(
        [message for _, message in making.sent],
        newest,
        [*(one for some in wanted.values() for one in some), *others],
        {name: [(one.id, one.amount) for one in some] for name, some in wanted.items()},
        never,
        again,
        too_late,
    )


def _between(source: random.Random, low: float, high: float) -> float:
    return low + (high - low) * source.random()


def _poison(making: _Making, number: int) -> Iterator[tuple[str, str]]:
    """Sends `number` messages that can never succeed, and yields the event id and the reason of each.

    Half of them are events about invoices that do not exist, and half have a body that is no event.
    """
    for n in range(number):
        event = making.event(f"draft_inv_{making.run}_gone{n:04d}")
        making.send(event, making.random.random())
        if n % 2:
            at, message = making.sent.pop()
            making.sent.append((at, message._replace(body=f"no event, {event['id']}")))
        yield event["id"], NO_EVENT if n % 2 else NO_INVOICE
