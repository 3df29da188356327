"""The worker processes what the webhook accepts, and sends what the webhook refuses to the dead-letter queue."""

import re
from collections import Counter

from tests.harness.json_kinds import ACCEPTED, NO_JSON, TOO_DEEP, with_unread
from tests.worker.conftest import Pair, StartWorker
from tests.worker.controller import Controller
from tests.worker.test_work import EventNamed

# SQS rejects the other characters, so the worker never receives them.
XML = re.compile("[\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")


def test_every_kind_of_json(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """Each kind is in a field that the worker does not read."""
    controller.policy = lambda asked: {"outcome": "closed"}
    good = {f"ev_{number}": kind for number, kind in enumerate(ACCEPTED)}
    bad = [with_unread(event_named("ev_bad"), kind).decode() for kind in NO_JSON + TOO_DEEP]
    bad = [body for body in bad if XML.fullmatch(body)]
    for name, kind in good.items():
        pair.send(with_unread(event_named(name), kind))
    for body in bad:
        pair.send(body)
    start_worker(pair)
    dead: list[tuple[str, dict[str, str]]] = []
    while len(dead) < len(bad):  # pytest's time-out ends it
        dead += pair.dead_letters()
    controller.wait_for_number(len(good))
    assert sorted(controller.events()) == sorted(good)
    assert Counter(body for body, _ in dead) == Counter(bad)
    assert {attributes["reason"] for _, attributes in dead} == {"not_an_event"}


def test_the_reason_names_the_field(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """A field that the worker reads may have no lone surrogate; a message from another sender may have one."""
    pair.send(event_named("ev_1").replace(b'"customer_id": "', b'"customer_id": "\\ud800'))
    start_worker(pair).log(outcome="dead_letter")
    [(_, attributes)] = pair.dead_letters()
    assert attributes["detail"].startswith(
        "The body is not a Chargebee event: content.invoice.customer_id: The string has half of a surrogate pair"
    )
    assert controller.asked == []
