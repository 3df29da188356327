"""Tests the simulated person and the simulated writer of usage in `python -m loadtest billing`."""

from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import orjson
import pytest

from app.sqs.message import Message
from loadtest.fire.deliveries import Deliveries, deliveries
from loadtest.fire.person import ONE_IN, Person
from loadtest.fire.writer import Writer
from local.chargebee.chargebee_start import start
from tests.harness.service import NO_CAS


class Stage:
    """Replaces the stage: Chargebee's stand-in with the invoices, and lists of the sent messages and written items."""

    def __init__(self, url: str, planned: Deliveries) -> None:
        self.run = SimpleNamespace(chargebee=url)
        self.sent: list[Message] = []
        self.send = self.sent.extend
        entries = [{"event": event} for event in planned.events]
        httpx.put(f"{url}/_/invoices", content=orjson.dumps(entries), verify=NO_CAS, timeout=60).raise_for_status()

    def invoices(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = httpx.get(f"{self.run.chargebee}/_/invoices", verify=NO_CAS, timeout=60).json()
        return found

    def by_hand(self, path: str) -> None:
        httpx.post(f"{self.run.chargebee}/_/by_hand/{path}", verify=NO_CAS, timeout=60).raise_for_status()


@pytest.fixture(scope="module")
def planned() -> Deliveries:
    return deliveries(600, 5)


@pytest.fixture
def stage(planned: Deliveries) -> Iterator[Stage]:
    with start(rate=1000) as api:
        yield Stage(api.url, planned)


def test_pending_invoices(stage: Stage, planned: Deliveries) -> None:
    """The person closes or deletes one invoice in fifty, and sends the event of each regenerated invoice."""
    person: Any = Person(stage, planned, 1)  # type: ignore[arg-type]  # has all that the person uses
    person.act(stage.invoices(), 0.5)
    assert len(person.deeds) == len(planned.events) // ONE_IN // 2
    assert not person.is_done()
    person.act(stage.invoices(), 1)
    assert len(person.deeds) == len(planned.events) // ONE_IN
    assert person.is_done()
    stages = {one["id"]: one["stage"] for one in stage.invoices()}
    did = Counter((deed.what, stages[name]) for name, deed in person.deeds.items())
    assert did.keys() == {("close", "closed"), ("delete", "void")}
    successors = [new for deed in person.deeds.values() for new in deed.successors.values()]
    assert len(successors) >= did["delete", "void"]
    assert {stages[new] for new in successors} == {"pending"}
    sent = [orjson.loads(one.body) for one in stage.sent]
    assert sorted(one["content"]["invoice"]["id"] for one in sent) == sorted(successors)
    assert {one["id"] for one in sent} == {name for deed in person.deeds.values() for name in deed.events}


def test_closed_invoices(stage: Stage, planned: Deliveries) -> None:
    """The person voids closed invoices, which have new ids, and each subscription gets a new invoice."""
    for name in planned.charges:
        stage.by_hand(f"invoices/{name}/close")
    person: Any = Person(stage, planned, 1)  # type: ignore[arg-type]  # a stage with what the person needs
    person.act(stage.invoices(), 1)
    assert {deed.what for deed in person.deeds.values()} == {"void"}
    assert max(len(deed.successors) for deed in person.deeds.values()) == 2
    subscriptions = {one.subscription_id for name in person.deeds for one in planned.charges[name]}
    assert subscriptions <= {name for deed in person.deeds.values() for name in deed.successors}


def test_what_changed_meanwhile(stage: Stage, planned: Deliveries) -> None:
    """If the worker has closed the invoices since the person read them, the person does nothing. There is no error."""
    old = stage.invoices()
    for name in planned.charges:
        stage.by_hand(f"invoices/{name}/close")
    person: Any = Person(stage, planned, 1)  # type: ignore[arg-type]  # a stage with what the person needs
    person.act(old, 1)
    assert (person.deeds, stage.sent, person.is_done()) == ({}, [], False)


def test_the_writer(planned: Deliveries, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer writes one item in twenty again, unchanged, in proportion to the progress of the work."""
    written: list[Any] = []
    monkeypatch.setattr("local.seeding.write", lambda run, items: written.extend(items))
    stage: Any = SimpleNamespace(run=None)
    writer = Writer(stage, planned.billables, 1)
    for progress in (0.0, 0.5, 0.3, 1.0):
        writer.act(progress)
    assert len(written) == writer.repeated == len(planned.billables) // 20
    assert set(written) <= set(planned.billables)
    assert len(set(written)) == len(written)
    assert writer.is_done()
