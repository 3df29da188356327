"""Faults from a person who had not read the simulation. At that time, it did not find these faults. See mutants.py."""

from tests.simulation.mutants import BESIDE, TWICE, Mutant

BLIND_MUTANTS = (
    Mutant(
        "the last second of a period is not covered",
        "billing/charges.py",
        "return _from(period.start), _from(period.end + 1)",
        "return _from(period.start), _from(period.end)",
        TWICE,
    ),
    Mutant(
        "an invoice covers the period of its first line only",
        "billing/coverage.py",
        "found = Period(min(term.period.start for term in terms), max(term.period.end for term in terms))",
        "found = terms[0].period",
        TWICE,
    ),
    Mutant(
        "a closed invoice frees only what this attempt has reserved",
        "billing/settlement.py",
        "self._billables.freed(missing, CLOSED_WITHOUT_CHARGES)",
        "self._billables.freed([one for one in missing if one in self.by_attempt], CLOSED_WITHOUT_CHARGES)",
        BESIDE,
        with_actors=True,
    ),
    Mutant(
        "a void invoice has the verdict of a closed one",
        "billing/settlement.py",
        'Unprocessable("The invoice was voided at Chargebee", "invoice_voided")',
        'Unprocessable("The invoice was voided at Chargebee", CLOSED_WITHOUT_CHARGES)',
        BESIDE,
        with_actors=True,
    ),
    Mutant(
        "a redrive drops the attributes of a message",
        "worker/one_by_one.py",
        "{name: value for name, value in message.attributes.items() if name not in REASON_ATTRIBUTES}",
        "{}",
        BESIDE,
        with_actors=True,
    ),
    Mutant(
        "reconcile counts a claimed event as done",
        "billing/processing.py",
        '            if status == "done":\n',
        '            if status in ("done", "working"):\n',
        BESIDE,
        with_actors=True,
    ),
)
