"""What must hold in each run of the webhook's path."""

import math
from typing import TYPE_CHECKING

from app.web.server.connections import SWEEP_SECONDS
from tests.simulation.steps import Violation

if TYPE_CHECKING:
    from tests.simulation.webhooks.path import PathRun
    from tests.simulation.webhooks.sender import Sender

# Seconds for a complete webhook, and for its body.
DEADLINE, BODY_TIMEOUT = 10.0, 10.0
# A timer fires at its time, or this number of seconds later.
LATEST = 0.001
OK, TIMEOUT = 200, 408


def check_answer(run: "PathRun", sender: "Sender", status: int, body: bytes) -> None:
    """Checks an answer when the service writes it."""
    if len(sender.answers) > 1:
        run.fail("a webhook is answered twice")
    if sender.has_left:
        run.fail("an answer is written to a sender that has left")
    if status == OK and sender.body.decode() not in run.sqs.queue:
        run.fail("a webhook got 200, and the queue does not have its bytes")
    late = sender.complete_at is None and run.now >= sender.began_at + BODY_TIMEOUT
    if status != OK and run.undisturbed and not (late and status == TIMEOUT):
        run.fail(f"a webhook got {status}, although nothing had failed")
    if any(one.event_id in body for one in run.senders if one is not sender):
        run.fail("an answer has reached another webhook")
    if sender.complete_at is not None and run.now > sender.complete_at + DEADLINE + LATEST:
        run.fail(f"a webhook waited for {run.now - sender.complete_at:.1f} s")


def check_deadline(run: "PathRun", sender: "Sender") -> None:
    """Checks that an incomplete body is answered in time: time passes only until `next_time`."""
    if sender.waits and sender.complete_at is None and not run.loop.within_iteration:
        until = sender.began_at + BODY_TIMEOUT + SWEEP_SECONDS + LATEST
        if (run.next_time or math.inf) > until:
            run.fail("an incomplete body has no deadline")


def check_end(run: "PathRun", *, closed: bool) -> None:
    """Raises Violation unless every webhook has its answer, and every counter is 0."""
    counters = run.admission.in_flight, run.admission.buffered_bytes, len(run.door.open)
    if counters != (0, 0, 0) or not closed:
        raise Violation(f"webhooks, bytes and exchanges in flight at the end: {counters}")
    if any(sender.waits for sender in run.senders):
        raise Violation("a webhook has no answer at the end")
    if run.limits._body_deadlines:
        raise Violation("a body has a deadline, although its request has ended")
    if len(run.records) != len(run.senders):
        raise Violation(f"{len(run.records)} records of {len(run.senders)} webhooks")
    unsent = {record.event.id for record in run.records if record.event and record.delivery == "not sent"}
    if any(one.event_id.decode() in unsent and one.body.decode() in run.sqs.queue for one in run.senders):
        raise Violation("the record says `not sent`, and the queue has the message")
