"""A call of a process to the table, the API or SQS, and the faults that may hit a call."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tests.simulation.loop import RESOLUTION

if TYPE_CHECKING:
    from tests.simulation.processes import Process

READS = frozenset({"query", "batch_get_item", "retrieve", "list_events", "list_invoices", "list_subscriptions"})
# The operations that botocore repeats after a lost answer. Transactions are missing: a repeated transaction changes
# nothing, because it has the same token.
REPEATED_BY_CLIENT = frozenset(
    {
        "update_item",
        "receive_message",
        "send_message",
        "delete_message_batch",
        "change_message_visibility_batch",
    }
)
API = frozenset({"add_charge", "close"})


class Fault(StrEnum):
    """A fault of one call. The value completes the sentence `W1 …`.

    LATE: the call reaches the server only after the client has given up. LOCKED: the call is late, and Chargebee locks
    the invoice until the call arrives.
    """

    DIES_BEFORE = "dies before"
    DIES_AFTER = "dies after"
    STALLS_BEFORE = "stalls before"
    STALLS_AFTER = "stalls after"
    STALLS_WAITING = "stalls while it waits"
    LOST = "gets no answer to"
    REPEATED = "repeats, after a lost answer,"
    LATE = "has a late"
    LOCKED = "has a late, locking"

    def applies_to(self, operation: str | None) -> bool:
        """Returns whether the fault can hit a call of this operation, or a process that waits for time (None)."""
        if operation is None or self is Fault.STALLS_WAITING:
            return operation is None and self is Fault.STALLS_WAITING
        match self:
            case Fault.REPEATED:
                return operation in REPEATED_BY_CLIENT
            case Fault.LATE:
                return operation not in READS
            case Fault.LOCKED:
                return operation in API
        return True


@dataclass(eq=False)
class Call:
    """A call that waits for the server's answer.

    `perform` executes the call at the server and returns the answer, or raises the error that the client would raise.
    `deadline`: the time by which the process must have given up, if no answer arrives. `poll_ends`: the time at which a
    long poll returns no message. `has_message`: whether a poll would return a message now.
    """

    process: "Process"
    number: int
    operation: str
    parameters: Mapping[str, Any]
    perform: Callable[[], Any]
    deadline: float
    poll_ends: float | None = None
    has_message: Callable[[], bool] = lambda: False
    future: "asyncio.Future[Any]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def outcome(self) -> Any:
        """Performs the call. Returns the answer, or the error that the client would raise."""
        try:
            return self.perform()
        except AssertionError:  # a Violation, or a bug of the simulation
            raise
        except Exception as error:
            return error

    def resolve(self, outcome: Any) -> None:
        if self.future.done():
            return
        if isinstance(outcome, Exception):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)

    def waits(self, now: float) -> bool:
        """Returns whether the call is a long poll that has no message yet."""
        return self.poll_ends is not None and now + RESOLUTION < self.poll_ends and not self.has_message()

    def subject(self) -> str:
        """Returns the keys, the receipt handles or the invoice of the call, as text for the list of calls."""
        given = self.parameters
        keys = [given["Key"]] if "Key" in given else [one["Update"]["Key"] for one in given.get("TransactItems", ())]
        handles = [entry["ReceiptHandle"] for entry in given.get("Entries", ())]
        invoice = [str(given["request"].invoice_id), given["request"].key or ""] if "request" in given else []
        return " ".join([*(key["pk"]["S"] for key in keys), *handles, *invoice])
