"""Judges the invoices at Chargebee's stand-in and the dead letters, without I/O.

Usage must be charged exactly once, on the invoice of its subscription, in its currency. Voided and deleted invoices do
not count. If a person has closed, deleted or voided the invoice, a verdict may replace the charge. A verdict is a dead
letter whose reason is one of VERDICTS; it asks a person to decide.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from loadtest.fire.customers import Expected
from loadtest.fire.deliveries import Deliveries
from loadtest.fire.person import Deed

# If a person has closed, deleted or voided an invoice, the invoice's events may become dead letters with these reasons.
VERDICTS = frozenset({"invoice_not_found", "closed_without_charges", "invoice_voided"})
Charge = tuple[dict[str, Any], dict[str, Any]]  # an invoice at the stand-in, and one of its charges


@dataclass(frozen=True)
class Judge:
    """Compares the workers' result with `planned`. `deeds`: what a person has done, by invoice id.

    `invoices`: all invoices at the stand-in. `letters`: the attributes of each dead letter.
    """

    planned: Deliveries
    deeds: Mapping[str, Deed]
    invoices: list[dict[str, Any]]
    letters: list[dict[str, str]]

    def found(self) -> dict[str, Any]:
        """Returns the fields of `BillingAudit` about faults and verdicts, and the totals."""
        charges = self._charges()
        usage = {_key(one): one for some in self.planned.charges.values() for one in some}
        once = {key: charges[key][0] for key in usage if len(charges.get(key, [])) == 1}
        judged = [one for key, one in usage.items() if key not in charges and self._has_verdict(one.invoice_id)]
        return {
            "unbilled": sorted(self._unbilled()),
            "twice": [one["id"] for one in self.invoices if len(one["closes"]) > 1],
            "missing": sorted(
                _name(one) for key, one in usage.items() if key not in charges and not self._has_verdict(one.invoice_id)
            ),
            "repeated": sorted(_name(one) for key, one in usage.items() if len(charges.get(key, [])) > 1),
            "foreign": sorted(f"{invoice['id']}: {charge['billable']}" for invoice, charge in self._foreign(usage)),
            "misplaced": sorted(_name(usage[key]) for key, one in once.items() if not self._fits(usage[key], *one)),
            "unexplained": sorted(self._unexplained()),
            "judged": len(judged),
            "totals": _totals(usage.values(), judged, self._live()),
        }

    def _live(self) -> list[dict[str, Any]]:
        return [one for one in self.invoices if one["stage"] != "void"]

    def _charges(self) -> dict[tuple[str, str, int], list[Charge]]:
        found: dict[tuple[str, str, int], list[Charge]] = {}
        for invoice in self._live():
            for charge in invoice["charges"]:
                found.setdefault(_key_of(invoice, charge), []).append((invoice, charge))
        return found

    def _foreign(self, usage: Mapping[tuple[str, str, int], Expected]) -> Iterator[Charge]:
        """Yields the charges that match no usage. Charges on voided and deleted invoices are checked as well."""
        for invoice in self.invoices:
            for charge in invoice["charges"]:
                if _key_of(invoice, charge) not in usage:
                    yield invoice, charge

    def _fits(self, expected: Expected, invoice: dict[str, Any], charge: dict[str, Any]) -> bool:
        successors = self.deeds[expected.invoice_id].successors if expected.invoice_id in self.deeds else {}
        return (
            invoice["id"] in {expected.invoice_id, successors.get(expected.subscription_id)}
            and invoice["currency_code"] == expected.currency
            and charge["subscription_id"] == expected.subscription_id
        )

    def _unbilled(self) -> Iterator[str]:
        """Yields the ids of invoices that should be closed or void, but are neither, or are missing at the stand-in."""
        ended = {one["id"] for one in self.invoices if one["closes"] or one["stage"] == "void"}
        for name in self.planned.charges:
            wanted = {name, *(self.deeds[name].successors.values() if name in self.deeds else ())}
            if not self._has_verdict(name):
                yield from wanted - ended

    def _has_verdict(self, invoice_id: str) -> bool:
        return invoice_id in self._verdicts

    @cached_property
    def _verdicts(self) -> set[str | None]:
        """The ids of the invoices for which there is a verdict."""
        letters = (letter for letter in self.letters if letter.get("reason") in VERDICTS)
        return {self._disturbed.get(letter.get("event_id", "")) for letter in letters}

    @cached_property
    def _disturbed(self) -> dict[str, str]:
        """The invoice's id by event id, for the events that may fail because a person has changed the invoice."""
        own = {event: name for event, name in self.planned.about.items() if name in self.deeds}
        return own | {event: name for name, deed in self.deeds.items() for event in deed.events}

    def _unexplained(self) -> Iterator[str]:
        """Yields a line for each dead letter that is missing, is unexpected, or has a wrong reason.

        A letter may occur twice, because a worker may be killed after it has sent the letter and before it deletes the
        message.
        """
        found = {letter.get("event_id", "no event_id"): letter.get("reason", "none") for letter in self.letters}
        for name in found.keys() | self.planned.poison.keys():
            wanted, reason = self.planned.poison.get(name, "nothing"), found.get(name, "nothing")
            if wanted != reason and not (name in self._disturbed and reason in VERDICTS):
                yield f"{name}: {reason} instead of {wanted}"


def _key(expected: Expected) -> tuple[str, str, int]:
    return expected.owner, expected.billable.id, expected.billable.amount


def _key_of(invoice: dict[str, Any], charge: dict[str, Any]) -> tuple[str, str, int]:
    return invoice["customer_id"], str(charge["billable"]), charge["amount"]


def _name(expected: Expected) -> str:
    return f"{expected.invoice_id}: {expected.billable.id}"


def _totals(
    usage: Iterable[Expected], judged: Iterable[Expected], live: Iterable[dict[str, Any]]
) -> dict[str, dict[str, int]]:
    """Returns, for each currency, the sums of all usage, of charges, and of usage with a verdict, in minor units."""
    wanted, instead, charged = Counter[str](), Counter[str](), Counter[str]()
    for one in usage:
        wanted[one.currency] += one.billable.amount
    for one in judged:
        instead[one.currency] += one.billable.amount
    for invoice in live:
        charged[invoice["currency_code"]] += sum(charge["amount"] for charge in invoice["charges"])
    return {
        currency: {"usage": wanted[currency], "charged": charged[currency], "verdict": instead[currency]}
        for currency in sorted({*wanted, *charged})
    }
