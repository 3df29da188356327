"""Generates the messages for the worker's queue: events about pending invoices, and messages that can never succeed.

Some events are sent twice, and some are sent in the wrong order.
"""

import json
import random
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from app.events import Event
from app.sqs.message import Message, to_message
from loadtest.fire import customers, hostile
from loadtest.fire.customers import Expected
from local.sample_events import default_file
from local.usage_events import SeededBillable


class Mix(NamedTuple):
    """The shares of unusual messages among all messages, and the flag `hostile`.

    `again`: a message is sent a second time. `too_late`: an older event is sent after a newer event about the same
    invoice. `poison`: a message can never succeed. `hostile`: whether to use the names and ids of
    `loadtest.fire.hostile`, and the three kinds of customers of `loadtest.fire.customers`.
    """

    again: float
    too_late: float
    poison: float
    hostile: bool


ODD = Mix(0.10, 0.05, 0.01, hostile=True)
PLAIN = Mix(0, 0, 0, hostile=False)
# A message that can never succeed must become a dead letter with one of these reasons.
NO_EVENT, NO_INVOICE = "not_an_event", "invoice_not_found"


@dataclass(frozen=True)
class Deliveries:
    """The messages for the workers' queue, and what the workers must do with them.

    `messages`: in the order of sending. `events`: the newest event of each invoice that exists. `billables`: the usage
    to write into the table. `charges`: the usage that must be charged, by invoice id. `about`: the invoice's id, by
    event id. `poison`: the reason of the expected dead letter, by the id of each event that can never succeed.
    `again`, `too_late`: how many messages are sent again, and how many too late (see `Mix`).
    """

    messages: list[Message]
    events: list[dict[str, Any]]
    billables: list[SeededBillable]
    charges: dict[str, list[Expected]]
    about: dict[str, str]
    poison: dict[str, str]
    again: int
    too_late: int


@dataclass
class _Making:
    """The deliveries while they are generated. `sent`: messages, each with its place in the sending order (0 to 1)."""

    random: random.Random
    template: dict[str, Any]
    run: str = field(default_factory=lambda: secrets.token_hex(4))
    sent: list[tuple[float, Message]] = field(default_factory=list)
    number: int = 0

    def event(self, invoice: dict[str, Any]) -> dict[str, Any]:
        """Returns an event about the invoice, with a new id."""
        self.number += 1
        content = {**self.template["content"], "invoice": invoice}
        return {**self.template, "id": f"ev_{self.run}_{self.number:06d}", "content": content}

    def send(self, event: dict[str, Any], at: float) -> None:
        self.sent.append((at, message(event)))


def message(event: dict[str, Any]) -> Message:
    """Returns the message that the service puts into the queue for a webhook with `event`."""
    body = json.dumps(event).encode()
    return to_message(Event.model_validate_json(body), body, fifo=False)


def deliveries(number: int, seed: int, mix: Mix = ODD) -> Deliveries:
    """Generates `number` messages for the worker's queue.

    The same seed gives the same order, and the same choice of messages that are sent again, sent too late, or can never
    succeed. Ids are new in each call. Charges differ as well, because they depend on the ids.
    """
    making = _Making(random.Random(seed), json.loads(default_file().read_bytes()))  # noqa: S311  # no secret
    again, too_late, poison = (round(number * share) for share in mix[:3])
    template = making.template["content"]["invoice"]
    invoices = customers.invoices(
        template, making.run, number - again - too_late - poison, making.random if mix.hostile else None
    )
    newest = [making.event(invoice) for invoice in invoices]
    wanted = customers.usage(newest)
    others: list[SeededBillable] = []
    if mix.hostile:
        source = random.Random(seed)  # noqa: S311  # separate, because the new ids decide how many numbers it draws
        wanted = customers.named(hostile.renamed_of_each(wanted, source), newest, source)
        # Add usage that must not be charged. One invoice of each customer is enough, because all invoices of a customer
        # have the same term.
        for invoice in {one["customer_id"]: one for one in invoices}.values():
            others += [*hostile.outside(invoice), customers.of_another_currency(wanted[invoice["id"]][0])]
        for event in newest:
            invoice = event["content"]["invoice"]
            own = [one.billable for one in wanted[invoice["id"]]]
            invoice["line_items"] = hostile.lines(invoice, own, source)
    places = [making.random.random() for _ in newest]
    for event, at in zip(newest, places, strict=True):
        making.send(event, at)
    about = {event["id"]: event["content"]["invoice"]["id"] for event in newest}
    for event, at in making.random.sample(list(zip(newest, places, strict=True)), too_late):
        invoice = event["content"]["invoice"]
        older = making.event({**invoice, "resource_version": invoice["resource_version"] - 1})
        about[older["id"]] = invoice["id"]
        making.send(older, _between(making.random, at, 1))
    for at, sent in making.random.sample(making.sent, again):
        making.sent.append((_between(making.random, at, 1), sent))
    never = dict(_poison(making, poison))
    making.sent.sort(key=lambda one: one[0])
    return Deliveries(
        [message for _, message in making.sent],
        newest,
        [*(one.billable for some in wanted.values() for one in some), *others],
        wanted,
        about,
        never,
        again,
        too_late,
    )


def _between(source: random.Random, low: float, high: float) -> float:
    return low + (high - low) * source.random()


def _poison(making: _Making, number: int) -> Iterator[tuple[str, str]]:
    """Adds `number` messages that can never succeed. Yields event id and reason of each expected dead letter.

    Half of them are events about invoices that do not exist, and half have a body that is no event.
    """
    for n in range(number):
        event = making.event({**making.template["content"]["invoice"], "id": f"draft_inv_{making.run}_gone{n:04d}"})
        making.send(event, making.random.random())
        if n % 2:
            at, sent = making.sent.pop()
            making.sent.append((at, sent._replace(body=f"no event, {event['id']}")))
        yield event["id"], NO_EVENT if n % 2 else NO_INVOICE
