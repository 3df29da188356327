"""Records what the actors have done in a run: the usage that its writer has written, and the actions of a person."""

from dataclasses import dataclass, field

from app.billing.charges import Billable

# The codes of the verdicts on an invoice that a person has closed, edited, voided or deleted.
MISSING, VOIDED, GONE = "closed_without_charges", "invoice_voided", "invoice_not_found"
Usage = tuple[str, str]
"""The customer and the end of the sort key, which identify a usage event."""


@dataclass
class Facts:
    """Stores facts for the invariants that the table and the site do not show afterwards.

    - `acted`: whether an actor has acted; `verdicts`: the codes of the dead letters that the actions explain.
    - `events`: the invoice of each event; `written`: all versions of each usage event.
    - `due`: the usage that was written before the event of an invoice that covers the usage.
    - `seen_void`: the invoices that Chargebee has shown as void to a worker before an event of the invoice was done.
    - `dropped`: the messages that SQS has dropped since the last `reconcile`.
    - `kept`: the invoices that the worker must leave alone; `regenerated`: the invoices that have replaced void
      invoices.
    """

    acted: bool = False
    verdicts: set[str] = field(default_factory=set)
    events: dict[str, str] = field(default_factory=dict)
    written: dict[Usage, list[Billable]] = field(default_factory=dict)
    due: set[Usage] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    regenerated: set[str] = field(default_factory=set)
    seen_void: set[str] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)

    def write(self, usage: Billable, *, due: bool) -> None:
        """Notes that the writer has written the usage event. `due`: True if a later invoice covers the usage."""
        key = usage.customer_id, usage.suffix
        self.written.setdefault(key, []).append(usage)
        if due:
            self.due.add(key)

    def key(self) -> object:
        """Returns the facts on which later checks of the invariants depend."""
        ids = self.verdicts, self.kept, self.regenerated, self.seen_void, self.dropped
        return self.acted, sorted(self.due), [sorted(one) for one in ids]
