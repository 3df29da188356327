"""The audit of `python -m loadtest billing` accepts correct results, and names each kind of fault."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from loadtest.fire.customers import Expected
from loadtest.fire.deliveries import Deliveries
from loadtest.fire.judgement import Judge
from loadtest.fire.person import Deed
from local.usage_events import SeededBillable

FAULTS = ("unbilled", "twice", "missing", "repeated", "foreign", "misplaced", "unexplained")


def expected(number: int, invoice_id: str = "i1") -> Expected:
    usage = SeededBillable(f"b{number}", "c1", 100 * number, "Usage", 5, "EUR", f"s{number}")
    return Expected(usage, "c1", invoice_id, f"s{number}", "EUR")


def charge(number: int) -> dict[str, Any]:
    return {"billable": f"b{number}", "amount": 100 * number, "subscription_id": f"s{number}"}


def invoice(name: str, *charges: int, **changes: object) -> dict[str, Any]:
    """Returns a closed invoice of the stand-in's audit."""
    closed = {"id": name, "customer_id": "c1", "currency_code": "EUR", "stage": "closed", "closes": [{"at": 1.0}]}
    return closed | {"charges": [charge(number) for number in charges]} | changes


def letter(event_id: str, reason: str) -> dict[str, str]:
    return {"event_id": event_id, "reason": reason}


def judge(deed: Deed | None, *invoices: dict[str, Any], letters: tuple[dict[str, str], ...] = ()) -> dict[str, Any]:
    """Judges an invoice `i1` with usage of two subscriptions, and with the events `e1` and the older `e0`."""
    poison = {"p1": "not_an_event"}
    planned = Deliveries([], [], [], {"i1": [expected(1), expected(2)]}, {"e1": "i1", "e0": "i1"}, poison, 0, 0)
    every = [*letters, letter("p1", "not_an_event")]
    return Judge(planned, {deed.invoice_id: deed} if deed else {}, list(deepcopy(invoices)), every).found()


def faults(found: dict[str, Any]) -> dict[str, list[str]]:
    return {name: found[name] for name in FAULTS if found[name]}


CLOSED = Deed("close", "i1")
VOIDED = Deed("void", "i1", {"s1": "n1", "s2": "n2"}, frozenset({"r1", "r2"}))
GONE = invoice("i1", 1, 2, stage="void")


def test_each_charge_once() -> None:
    """If each charge exists once, there is no fault, and the totals add up."""
    found = judge(None, invoice("i1", 1, 2))
    assert faults(found) == {}
    assert found["totals"] == {"EUR": {"usage": 300, "charged": 300, "verdict": 0}}
    assert found["judged"] == 0


@pytest.mark.parametrize(
    ("invoices", "kinds"),
    [
        ([invoice("i1", 1, 2, 2)], {"repeated"}),
        ([invoice("i1", 1, 2), invoice("other", 2)], {"repeated"}),
        ([invoice("i1", 1)], {"missing"}),
        ([invoice("i1", 1, 2, 3)], {"foreign"}),
        ([invoice("i1", 1, 2, currency_code="USD")], {"misplaced"}),
        ([invoice("i1", 1), invoice("other", 2)], {"misplaced"}),
        ([invoice("i1", 1, charges=[charge(1), charge(2) | {"subscription_id": "s1"}])], {"misplaced"}),
        ([invoice("i1", charges=[charge(1), charge(2) | {"amount": 1}])], {"missing", "foreign"}),
        ([invoice("i1", 1, 2, closes=[], stage="charging")], {"unbilled"}),
        ([invoice("i1", 1, 2, closes=[{"at": 1.0}, {"at": 2.0}])], {"twice"}),
        ([], {"unbilled", "missing"}),
    ],
)
def test_faults_without_a_person(invoices: list[dict[str, Any]], kinds: set[str]) -> None:
    """Each wrong invoice has its kinds of faults, for example a double charge or a wrong currency."""
    assert faults(judge(None, *invoices)).keys() == kinds


def test_a_letter_is_no_excuse_if_nobody_acted() -> None:
    """A dead letter replaces a charge only if a person has changed the invoice."""
    found = judge(None, invoice("i1", 1), letters=(letter("e1", "invoice_not_found"),))
    assert faults(found).keys() == {"missing", "unexplained"}


@pytest.mark.parametrize(("event", "reason"), [("e1", "invoice_not_found"), ("e0", "closed_without_charges")])
def test_a_verdict_takes_the_place_of_a_charge(event: str, reason: str) -> None:
    """After a person has closed the invoice, a dead letter with one of the VERDICTS replaces the missing charge."""
    found = judge(CLOSED, invoice("i1", 1), letters=(letter(event, reason),))
    assert faults(found) == {}
    assert found["judged"] == 1
    assert found["totals"] == {"EUR": {"usage": 300, "charged": 100, "verdict": 200}}


@pytest.mark.parametrize("letters", [(), (letter("e1", "internal_error"),), (letter("e9", "invoice_not_found"),)])
def test_usage_without_charge_and_without_verdict(letters: tuple[dict[str, str], ...]) -> None:
    """A letter with another code or about another event is not a verdict, so the charge is missing."""
    found = judge(CLOSED, invoice("i1", 1), letters=letters)
    assert found["missing"] == ["i1: b2"]
    assert bool(found["unexplained"]) == bool(letters)


def test_a_verdict_excuses_no_double_charge() -> None:
    """Even after a person's change, a double charge on a live invoice is a fault, and so is a foreign charge."""
    verdict = (letter("e1", "closed_without_charges"),)
    assert judge(CLOSED, invoice("i1", 1, 1), letters=verdict)["repeated"] == ["i1: b1"]
    assert judge(CLOSED, invoice("i1", 1), invoice("x", 2), letters=verdict)["misplaced"] == ["i1: b2"]


def test_regenerated_invoices_have_the_charges() -> None:
    """The charges of a voided invoice do not count. Each successor must have the charges of its subscription."""
    assert faults(judge(VOIDED, GONE, invoice("n1", 1), invoice("n2", 2))) == {}


@pytest.mark.parametrize(
    ("invoices", "kinds"),
    [
        ([invoice("n1"), invoice("n2", 2)], {"missing"}),
        ([invoice("n1", 2), invoice("n2", 1)], {"misplaced"}),
        ([invoice("n1", 1), invoice("n2", 2, closes=[], stage="charging")], {"unbilled"}),
        ([invoice("n1", 1), invoice("n2", 2), invoice("n3", 2)], {"repeated"}),
    ],
)
def test_faults_of_regenerated_invoices(invoices: list[dict[str, Any]], kinds: set[str]) -> None:
    """A successor must be closed, with the charges of its own subscription."""
    assert faults(judge(VOIDED, GONE, *invoices)).keys() == kinds


def test_a_verdict_on_a_regenerated_invoice() -> None:
    """A dead letter about the event of a regenerated invoice is a verdict, too."""
    found = judge(VOIDED, GONE, invoice("n1", 1), invoice("n2"), letters=(letter("r2", "invoice_not_found"),))
    assert (faults(found), found["judged"]) == ({}, 1)


@pytest.mark.parametrize(
    "change",
    [
        lambda letters: letters.clear(),
        lambda letters: letters.append(letter("p1", "invoice_not_found")),
        lambda letters: letters.append({"reason": "x"}),
    ],
)
def test_poison_must_be_a_dead_letter_with_its_reason(change: Callable[[list[dict[str, str]]], None]) -> None:
    """A missing dead letter, a wrong reason, and a dead letter without an event are faults."""
    letters = [letter("p1", "not_an_event")]
    change(letters)
    planned = Deliveries([], [], [], {}, {}, {"p1": "not_an_event"}, 0, 0)
    assert len(Judge(planned, {}, [], letters).found()["unexplained"]) == 1
