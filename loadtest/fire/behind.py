"""Provides a subject's queue, or for v01 its table and invoices, during one measurement."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from loadtest.fire.arrivals import Arrivals, arrivals
from loadtest.fire.invoice_bodies import Invoices, seeded
from loadtest.fire.traffic import Traffic
from loadtest.record.shapes import Load
from loadtest.stage.billing_stage import BillingStack
from loadtest.stage.stack import PASSWORD, USER, Stack
from loadtest.stage.subject import AttackSubject

# The number of additional invoices for v01. They are for the webhook before the attack, for webhooks that vegeta reads
# but does not send and, in a closed loop, for each user's webhooks after the first one. SPARE is enough, because v01
# answers only about one webhook a second.
SPARE = 50


class Behind(NamedTuple):
    """The subject's queue, or v01's table and invoices.

    `variables`: for the subject's environment. `traffic` returns the webhooks for the subject's URL. `arrived`: the
    arrivals for the audit, or None if the subject's 200s are not audited. `described`: a description for results.
    """

    variables: dict[str, str]
    traffic: Callable[[str], Traffic]
    arrived: Arrivals | None
    described: dict[str, Any]


@contextmanager
def behind(stack: Stack | BillingStack, what: AttackSubject, load: Load) -> Iterator[Behind]:
    """A context that creates an empty queue for a measurement, and deletes it afterwards.

    For v01, creates invoices at Chargebee's stand-in instead: one for each webhook of `load`, one for each user, and
    SPARE more.
    """
    if isinstance(stack, BillingStack):
        bodies = seeded(stack, int(load.rate * load.duration_s) + (load.users or 0) + SPARE)
        invoices = Invoices(stack, bodies)
        yield Behind(stack.environment(), invoices.traffic, invoices, stack.described)
    else:
        url = stack.new_queue()
        arrived = arrivals(stack, url) if what.enqueues else None
        described = {"queue": stack.queue, "toxics": stack.toxics}
        yield Behind(stack.environment(url), lambda at: Traffic(at, USER, PASSWORD), arrived, described)
        stack.sqs.delete_queue(QueueUrl=url)
