"""Faults that are planted in a copy of the production code, one at a time. A run of the simulation must find each.

A change that no invariant can notice is not a mutant. The design often has two protections, and one of them is enough.
So each mutant names the run that must find it, which is often a run without the other protection.
"""

from typing import NamedTuple

TWICE, KEYLESS, LONG = "one event, delivered twice", "without idempotency keys", "work longer than a lease"
VERSIONS, LATER, OVERLAPPING, LIMIT = (
    "two versions of an invoice",
    "a second version, later",
    "two invoices, one period",
    "a low rate limit",
)
SILENT, THRICE, LATE = "longer than a lease, no heartbeat", "three deliveries, no heartbeat", "a late billable event"
POISON, MACHINE, BESIDE = "poison", "the random runs", "one event, delivered once"
PATH, CONNECTION = "the webhook's path", "the states of a connection"


class Mutant(NamedTuple):
    """A fault: `before` is replaced by `after` in `file` of app/. `run`: the run that must find it.

    `with_actors`: an actor acts once in the run.
    """

    name: str
    file: str
    before: str
    after: str
    run: str
    with_actors: bool = False


MUTANTS = (
    Mutant(
        "a claim takes over a live lease",
        "billing/claims.py",
        "(#status = :working AND #lease_until < :free)",
        "(#status = :working AND (#lease_until < :free OR #lease_until >= :free))",
        KEYLESS,
    ),
    Mutant(
        "a claim is made on a done event",
        "billing/claims.py",
        "OR (#status = :working AND #lease_until < :free)",
        "OR #lease_until < :free",
        TWICE,
    ),
    Mutant(
        "an invoice is taken from a live lease",
        "billing/claims.py",
        "(attribute_not_exists(#lease_until) OR #lease_until < :free OR #event_id = :event)",
        "(attribute_not_exists(#lease_until) OR #lease_until < :free OR attribute_exists(#pk) OR #event_id = :event)",
        VERSIONS,
    ),
    Mutant(
        "an older version of an invoice is processed",
        "billing/claims.py",
        "#resource_version <= :version)",
        "#resource_version <= :version OR attribute_exists(#pk))",
        VERSIONS,
    ),
    Mutant(
        "the lease is not renewed in the table",
        "billing/term.py",
        "await self._table.write(claims.renewals(self.event_id, self._invoice_id, self.token, self._until()))",
        "pass",
        LONG,
    ),
    Mutant(
        "the owner of a claim is not compared",
        "billing/leases.py",
        'if text(item, "owner") != self.token:',
        'if not text(item, "owner"):',
        KEYLESS,
    ),
    Mutant(
        "a lease ends too early for others",
        "billing/term.py",
        "return now_ms() - round(1000 * SKEW * self.seconds)",
        "return now_ms() + round(1000 * self.seconds)",
        KEYLESS,
    ),
    Mutant(
        "an unanswered call does not keep the invoice leased",
        "billing/leases.py",
        "return self.is_first and not self.asked.unanswered",
        "return True",
        LATER,
    ),
    Mutant(
        "a call that Chargebee still executes counts as answered",
        "billing/api_calls.py",
        "        except Unprocessable:\n            caller.asked.have_answer()\n",
        "        except Exception:\n            caller.asked.have_answer()\n",
        LATER,
    ),
    Mutant(
        "a call that got no answer is not noted",
        "billing/api_calls.py",
        "        except BaseException:\n            caller.asked.miss_answer()\n            raise\n",
        "        except BaseException:\n            raise\n",
        LATER,
    ),
    Mutant(
        "a reservation ignores that of another invoice",
        "billing/charge_items.py",
        'UNRESERVED = "attribute_not_exists(#invoice_id)"',
        'UNRESERVED = "attribute_not_exists(#invoice_id) OR attribute_exists(#pk)"',
        OVERLAPPING,
    ),
    Mutant(
        "reservations of other invoices are found",
        "billing/selection.py",
        "if charge.invoice_id == self.invoice_id:",
        "if charge.invoice_id:",
        OVERLAPPING,
    ),
    Mutant(
        "charges without a reservation",
        "billing/attempt.py",
        "own = own + await self._reserve(selection)",
        "own = own + selection.free",
        OVERLAPPING,
    ),
    Mutant(
        "the reservations of a closed draft are taken back",
        "billing/settlement.py",
        "if is_new and not self.rejected and not self._lease.asked.may_have_changed:",
        "if own:",
        OVERLAPPING,
    ),
    Mutant(
        "an invoice that was closed under another id is not found",
        "billing/settlement.py",
        "if refers_to(found.line_items, charges):",
        "if False:",
        TWICE,
    ),
    Mutant(
        "an invoice that a late call closes after a conflict is not looked for again",
        "billing/attempt.py",
        "self._settlement.rejected = True",
        "pass",
        OVERLAPPING,
    ),
    Mutant(
        "close before the last charge",
        "billing/attempt.py",
        "for billable in without(positive(own), on_invoice):",
        "for billable in without(positive(own), on_invoice)[:-1]:",
        TWICE,
    ),
    Mutant(
        "no close",
        "billing/attempt.py",
        "closed_as = await self._chargebee.close(self._lease, invoice.id, invoice.customer_id)",
        "closed_as = invoice.id",
        TWICE,
    ),
    Mutant(
        "the invoice is not retrieved after reservations",
        "billing/attempt.py",
        "if positive(own) and found is None:",
        "if False:",
        KEYLESS,
    ),
    Mutant(
        "charges on the invoice are not recognised",
        "billing/references.py",
        '(f"[billable:{billable.reference}]", billable.amount)',
        '(f"[billable:{billable.id}]", billable.amount)',
        KEYLESS,
    ),
    Mutant(
        "the key ignores the billable event",
        "billing/charges.py",
        "    if billable is None:\n        return start\n",
        "    if billable is None or billable:\n        return start\n",
        TWICE,
    ),
    Mutant(
        "the key depends on the attempt",
        "billing/chargebee.py",
        'idempotency_key(caller.event_id, "add_charge", billable)',
        'idempotency_key(getattr(caller, "token", "")[-12:], "add_charge", billable)',
        TWICE,
    ),
    Mutant(
        "the end does not mark the billable events",
        "billing/leases.py",
        "await self._table.write([*many, *last])",
        "await self._table.write(last)",
        TWICE,
    ),
    Mutant(
        "a call to the table has no deadline",
        "billing/dynamodb.py",
        "asyncio.timeout(CALL_SECONDS)",
        "asyncio.timeout(None)",
        TWICE,
    ),
    Mutant(
        "a call to Chargebee has no deadline",
        "billing/api_calls.py",
        "aiohttp.ClientTimeout(total=seconds)",
        "aiohttp.ClientTimeout(total=None)",
        TWICE,
    ),
    Mutant(
        "a call to SQS has no deadline",
        "worker/consumed_queue.py",
        "asyncio.timeout(self._call_timeout + longer)",
        "asyncio.timeout(None)",
        TWICE,
    ),
    Mutant(
        "a slot is taken without its condition",
        "billing/slots.py",
        'f"#next_at < :now OR {_NONE}"',
        'f"#next_at < :now OR attribute_exists(#pk) OR {_NONE}"',
        LIMIT,
    ),
    Mutant(
        "slots are too close",
        "billing/rate.py",
        "self.interval = (WINDOW + SLACK) / per_minute",
        "self.interval = (WINDOW - SLACK) / per_minute / 2",
        LIMIT,
    ),
    Mutant(
        "a slot of the past is used",
        "billing/rate.py",
        "return not resting and now_ms() - slot <= 1000 * LATE",
        "return not resting",
        LIMIT,
    ),
    Mutant(
        "delete before done",
        "worker/handle.py",
        "            outcome = await self._process(event)\n",
        "            self._in_flight.delete(message)\n            outcome = await self._process(event)\n",
        TWICE,
    ),
    Mutant(
        "a failed message is deleted",
        "worker/handle.py",
        "        self._in_flight.release(message, record.retry_in)\n",
        "        self._in_flight.delete(message)\n",
        TWICE,
    ),
    Mutant(
        "a message is deleted although its dead letter failed",
        "worker/handle.py",
        "            self._retry(message, record, NO_DEAD_LETTER)\n",
        "            self._complete(message, record, NO_DEAD_LETTER)\n",
        POISON,
    ),
    Mutant(
        "a message is deleted before its dead letter",
        "worker/handle.py",
        "        try:\n            letter = dead_letter(",
        "        self._in_flight.delete(message)\n        try:\n            letter = dead_letter(",
        POISON,
    ),
    Mutant(
        "a dead letter has no reason",
        "worker/dead_letters.py",
        "REASON: _plain(code), DETAIL",
        "DETAIL",
        POISON,
    ),
    Mutant(
        "redrive deletes a dead letter before it sends the message",
        "worker/one_by_one.py",
        "        codes = await self._send(messages)\n",
        "        await self._delete(messages)\n        codes = await self._send(messages)\n",
        MACHINE,
    ),
    Mutant(
        "a lost lease counts as renewed",
        "billing/term.py",
        "                self._ends = 0.0\n                raise lost() from None\n",
        "                pass\n",
        SILENT,
    ),
    Mutant(
        "a worker that loses its claim releases that of the other",
        "billing/claims.py",
        'ENDED, OWNED = "SET #lease_until = :ended", "#owner = :owner"',
        'ENDED, OWNED = "SET #lease_until = :ended", "attribute_exists(#pk) OR #owner = :owner"',
        THRICE,
    ),
    Mutant(
        "a closed invoice is not recognised",
        "billing/attempt.py",
        "if found is not None and not found.is_pending:",
        "if False and found is not None:",
        LATE,
    ),
)
