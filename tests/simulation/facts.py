"""What has happened in a run beside the calls: what the usage's writer has written, and what a person has done."""

from dataclasses import dataclass, field

from app.billing.charges import Billable

# The codes of the verdicts on an invoice that a person has closed, edited, voided or deleted.
MISSING, VOIDED, GONE = "closed_without_charges", "invoice_voided", "invoice_not_found"
Usage = tuple[str, str]
"""The customer and the end of the sort key, which identify a usage event."""


@dataclass
class Facts:
    """Keeps what the invariants must know, because neither the table nor the site shows it afterwards.

    - `acted`: whether an actor has acted; `verdicts`: the codes of the dead letters that the actions explain.
    - `events`: the invoice of each event; `written`: all versions of each usage event.
    - `due`: the usage that was there before the event of an invoice that covers it.
    - `seen_void`: the invoices that Chargebee has shown as void to a worker before any of their events was done.
    - `dropped`: the messages that SQS has dropped since the last `reconcile`.
    - `kept`: the invoices that the worker must leave alone; `regenerated`: the invoices in place of void ones.
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
        """Notes that the writer has put the usage event. `due`: an invoice that is still to come covers it."""
        key = usage.customer_id, usage.suffix
        self.written.setdefault(key, []).append(usage)
        if due:
            self.due.add(key)

    def key(self) -> object:
        """Returns what the invariants of the future depend on."""
        ids = self.verdicts, self.kept, self.regenerated, self.seen_void, self.dropped
        return self.acted, sorted(self.due), [sorted(one) for one in ids]
