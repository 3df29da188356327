"""The invariants of each run of the webhook's path."""

import math
from typing import TYPE_CHECKING

from app.server.limits import SWEEP_SECONDS
from tests.simulation.steps import Violation

if TYPE_CHECKING:
    from tests.simulation.webhooks.path import PathRun
    from tests.simulation.webhooks.sender import Sender
    from tests.simulation.webhooks.webhook import Webhook

# Seconds until a complete webhook must have its answer, and until a body must be complete.
DEADLINE, BODY_TIMEOUT = 10.0, 10.0
# A timer fires at its time, or this number of seconds later.
LATEST = 0.001
OK, TIMEOUT = 200, 408


def check_answer(run: "PathRun", webhook: "Webhook | None", answer: bytes) -> None:
    """Checks an answer when the service writes it. `webhook`: the first unanswered webhook."""
    if webhook is None:
        run.fail("a webhook is answered twice")
        return
    if webhook.has_left or webhook.next_at is None:
        run.fail("an answer is written to a sender that has left")
        return
    status, next_at = int(answer[9:12]), webhook.next_at
    if status == OK and webhook.body.decode() not in run.sqs.queue:
        run.fail("a webhook got 200, and the queue does not have its bytes")
    late = webhook.complete_at is None and run.now >= next_at + BODY_TIMEOUT
    if status != OK and run.undisturbed and not (late and status == TIMEOUT):
        run.fail(f"a webhook got {status}, although nothing had failed")
    named = [one for one in run.webhooks if one.event_id in answer]
    if named != ([webhook] if status == OK else []):
        run.fail("an answer has reached another webhook")
    if webhook.complete_at is not None and (waited := run.now - max(webhook.complete_at, next_at)) > DEADLINE + LATEST:
        run.fail(f"a webhook waited for {waited:.1f} s")


def check_deadline(run: "PathRun", webhook: "Webhook") -> None:
    """Checks that an incomplete body has a deadline: the next timer must not be later than this deadline."""
    next_at = webhook.next_at
    if webhook.waits and webhook.complete_at is None and next_at is not None and not run.loop.within_iteration:
        until = next_at + BODY_TIMEOUT + SWEEP_SECONDS + LATEST
        if (run.next_time or math.inf) > until:
            run.fail("an incomplete body has no deadline")


def check_lost(run: "PathRun", sender: "Sender") -> None:
    """Checks that the process does not keep a connection that has ended."""
    if sender.ended and sender.protocol in run.connections and not run.loop.within_iteration:
        run.fail("a connection has ended, and the process keeps it")


def check_ended(run: "PathRun", senders: "list[Sender]") -> None:
    """Raises Violation if one of `senders` is connected, or if the process still stores an ended connection."""
    if not all(sender.ended for sender in senders):
        raise Violation("a connection stays open beyond its deadline")
    stored = {*run.limits._deadlines, *run.limits._half_closed, *run.limits.received.large}
    if any(sender.ended and sender.protocol in stored for sender in run.senders):
        raise Violation("something is stored about a connection that has ended")


def check_end(run: "PathRun", *, closed: bool) -> None:
    """Raises Violation if a webhook has no answer, or if a counter is not 0."""
    counters = run.admission.in_flight, run.admission.buffered_bytes, len(run.handler.open)
    if counters != (0, 0, 0) or not closed:
        raise Violation(f"webhooks, bytes and exchanges in flight at the end: {counters}")
    if any(webhook.waits for webhook in run.webhooks):
        raise Violation("a webhook has no answer at the end")
    if run.limits._body_deadlines:
        raise Violation("a body has a deadline, although its request has ended")
    begun = sum(webhook.next_at is not None for webhook in run.webhooks)
    if len(run.records) != begun:
        raise Violation(f"{len(run.records)} records of {begun} webhooks")
    unsent = {record.event.id for record in run.records if record.event and record.delivery == "not sent"}
    if any(one.event_id.decode() in unsent and one.body.decode() in run.sqs.queue for one in run.webhooks):
        raise Violation("the record says `not sent`, and the queue has the message")
