"""Planted faults that have an effect only if an actor (actors.py) acts while the workers run. See mutants.py."""

from tests.simulation.mutants import BESIDE, LATE, OVERLAPPING, Mutant


def _mutant(name: str, file: str, before: str, after: str, run: str = BESIDE) -> Mutant:
    return Mutant(name, file, before, after, run, with_actors=True)


ACTOR_MUTANTS = (
    _mutant(
        "a verdict is not kept in the claim",
        "billing/processing.py",
        "            await lease.fail(result.verdict, result.closed_as, result.updates)\n",
        "            for one in result.updates:\n                await self.table.update(one)\n",
    ),
    _mutant(
        "a claim is made on an event with a verdict",
        "billing/claims.py",
        "attribute_not_exists(#pk) OR (#status = :working",
        "attribute_not_exists(#pk) OR (attribute_exists(#detail) AND #lease_until < :free) OR (#status = :working",
    ),
    _mutant(
        "a verdict counts as done",
        "billing/leases.py",
        'raise Unprocessable(text(item, "detail") or "", text(item, "code") or "") from None',
        "raise AlreadyDone from None",
    ),
    _mutant(
        "a charge item is the writer's usage item",
        "billing/charge_items.py",
        'USAGE, CHARGE = "billable#", "charge#"',
        'USAGE, CHARGE = "billable#", "billable#"',
    ),
    _mutant(
        "reserved usage is charged as its writer has it now",
        "billing/selection.py",
        "            into.own.append(charge)\n",
        "            now = charge if usage is None else chargeable(charge.customer_id, usage)\n"
        "            into.own.append(type(charge)(**{**vars(charge), 'amount': now.amount}))\n",
    ),
    _mutant(
        "the usage of a void invoice stays there",
        "billing/selection.py",
        "(into.in_work if charge.closed_as is None else into.elsewhere).append(charge)",
        "into.in_work.extend([charge] if charge.closed_as is None else [])",
    ),
    _mutant(
        "a new invoice does not wait until the old one is settled",
        "billing/attempt.py",
        "            await require_settled(self._table, selection.in_work)\n",
        "            pass\n",
    ),
    _mutant(
        "a void invoice counts as valid",
        "billing/chargebee.py",
        "return found.status == VOIDED",
        "return False",
    ),
    _mutant(
        "a deleted invoice counts as valid",
        "billing/chargebee.py",
        "                raise\n            return True\n",
        "                raise\n            return False\n",
    ),
    _mutant(
        "the usage of a valid invoice is taken over",
        "billing/whose.py",
        ' if (one.closed_as or "") in gone)',
        ")",
        OVERLAPPING,
    ),
    _mutant(
        "an invoice that was voided before its end is done",
        "billing/settlement.py",
        "if found.status == VOIDED:",
        "if False:",
    ),
    _mutant(
        "an invoice that does not recur is closed",
        "billing/coverage.py",
        "if not invoice.recurring:",
        "if False:",
    ),
    _mutant(
        "an invoice without a term is closed",
        "billing/coverage.py",
        "return None if covered else NO_TERM_LINE",
        "return None",
    ),
    _mutant(
        "APP_BILLING_EXEMPT is ignored",
        "billing/processing.py",
        "self._clients = Clients(table, chargebee, exempt)",
        "self._clients = Clients(table, chargebee, frozenset())",
    ),
    _mutant(
        "the currency of usage is not compared",
        "billing/selection.py",
        "if billable.currency not in (None, self.currency):",
        "if False:",
    ),
    _mutant(
        "the subscription of usage is not compared",
        "billing/coverage.py",
        "        and subscription_id in (None, one.subscription_id)\n",
        "",
    ),
    _mutant(
        "usage without a subscription belongs to any",
        "billing/whose.py",
        "if one.subscription_id is None and one.customer_id in ambiguous:",
        "if False:",
    ),
    _mutant(
        "an odd amount stops the whole invoice",
        "billing/selection.py",
        "                into.odd.append(Aside(customer_id, suffix_of(item), error.code))\n",
        "                raise\n",
    ),
    _mutant(
        "usage that is missing from a closed invoice is not noticed",
        "billing/settlement.py",
        "missing = without(positive(own), self.charged(own, found))",
        "missing: list[Billable] = []",
    ),
    _mutant(
        "an invoice that a person has closed counts as charged",
        "billing/attempt.py",
        "                raise self._conflict() from None\n            return self._settlement.closed(found, own)",
        "                raise self._conflict() from None\n            return self._settlement.result(own, found.id)",
        LATE,
    ),
    _mutant(
        "set-aside usage is not in the outcome",
        "billing/settlement.py",
        "in_part = bool(self.set_aside - {(one.customer_id, one.suffix) for one in own})",
        "in_part = False",
    ),
    _mutant(
        "reconcile enqueues events with a verdict",
        "worker/event_comparison.py",
        "if one not in done and one not in judged]:",
        "if one not in done]:",
    ),
    _mutant(
        "redrive leaves the dead letter",
        "worker/one_by_one.py",
        "zip(sent, await self._delete(sent), strict=True)",
        "zip(sent, [None] * len(sent), strict=True)",
    ),
)
