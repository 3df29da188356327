"""One run of the webhook's path, and what must hold in each run."""

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from app.settings.gate import GateSettings
from app.sqs.group_commit import GroupCommit
from app.sqs.lean import LeanQueue
from app.sqs.limits import SendLimits
from app.sqs.queue import QueueAddress
from app.sqs.signing import Credentials
from app.telemetry.observers import Observers
from app.telemetry.record import WebhookRecord, unobserved
from app.web.callbacks import CallbackDoor
from app.web.gate.admission import Admission
from app.web.gate.gate import Gate
from app.web.releases import v11_without_asgi
from local.sample_events import default_file, fresh_events
from tests.simulation.loop import VirtualLoop
from tests.simulation.steps import Violation
from tests.simulation.webhooks.sender import Sender
from tests.simulation.webhooks.server import ModelSqs, Wire

WEBHOOKS, DEADLINE = 3, 10.0
BODIES = list(fresh_events(default_file().read_bytes(), WEBHOOKS))
SETTINGS = GateSettings.model_validate({"basic_auth_username": "user", "basic_auth_password": "password"})
OK = 200
# A timer fires at its time, or this number of seconds later.
LATEST = 0.001


class _Loop(VirtualLoop):
    """An event loop whose connections lead to the model of SQS."""

    sqs: ModelSqs

    async def create_connection(self, protocol_factory: Callable[[], Any], *_: Any, **__: Any) -> Any:
        protocol = protocol_factory()
        wire = Wire(self.sqs, protocol, self.call_soon)
        protocol.connection_made(wire)
        return wire, protocol


class PathRun:
    """A new process with the second door, group commit and the lean client, and an SQS that has received nothing.

    `slots`: the calls that group commit makes at the same time. With one slot, two webhooks share the second call.
    `undisturbed`: nothing has happened that entitles the service to answer 503.
    """

    def __init__(self, slots: int) -> None:
        random.seed(0)  # the lean client's pauses
        self.now = 0.0
        self.loop = _Loop(lambda: self.now)
        self.loop.sqs = self.sqs = ModelSqs()
        self.failure: str | None = None
        self.loop.set_exception_handler(lambda _, context: self.fail(str(context)))
        self.records: list[WebhookRecord] = []
        self.admission = Admission(SETTINGS)
        gate = Gate(SETTINGS, self.admission, Observers(), self.records.append)
        limits = SendLimits(DEADLINE, calls=slots)
        self.group_commit = GroupCommit(_lean(limits), limits, unobserved)
        self.door = CallbackDoor(gate, v11_without_asgi.receive)
        self.senders: list[Sender] = []
        self.stopped, self.undisturbed = False, True

    def fail(self, what: str) -> None:
        self.failure = self.failure or what

    def do(self, *actions: Callable[[], None], settle: bool = True) -> None:
        """Runs the actions in one iteration of the loop. Without `settle`, the next actions share the iteration."""
        for action in actions:
            self.loop.call_soon(action)
        if settle:
            self.loop.settle()

    def pass_time(self) -> None:
        """Lets time pass until the next timer."""
        self.now = max(self.now, self.loop.next_timer() or 0.0)
        self.loop.settle()

    def check_answer(self, sender: Sender, status: int, body: bytes) -> None:
        """Checks an answer when the service writes it."""
        if len(sender.answers) > 1:
            self.fail("a webhook is answered twice")
        if sender.has_left:
            self.fail("an answer is written to a sender that has left")
        if status == OK and sender.body.decode() not in self.sqs.queue:
            self.fail("a webhook got 200, and the queue does not have its bytes")
        if status != OK and self.undisturbed:
            self.fail(f"a webhook got {status}, although nothing had failed")
        if any(one.event_id in body for one in self.senders if one is not sender):
            self.fail("an answer has reached another webhook")
        if sender.complete_at is not None and self.now > sender.complete_at + DEADLINE + LATEST:
            self.fail(f"a webhook waited for {self.now - sender.complete_at:.1f} s")

    def check(self) -> None:
        """Raises Violation if an invariant does not hold now."""
        if self.failure is not None:
            raise Violation(self.failure)

    def end(self) -> None:
        """Stops the process. Raises Violation unless every webhook has its answer, and every counter is 0."""
        self.undisturbed = self.undisturbed and not any(sender.waits for sender in self.senders)
        self.do(self.door.stop)
        closing = self.loop.create_task(self.group_commit.close(DEADLINE))
        self.loop.settle()
        while not closing.done() and self.loop.next_timer() is not None:
            self.pass_time()
        self.check()
        counters = self.admission.in_flight, self.admission.buffered_bytes, len(self.door.open)
        if counters != (0, 0, 0) or not closing.done():
            raise Violation(f"webhooks, bytes and exchanges in flight at the end: {counters}")
        if any(sender.waits for sender in self.senders):
            raise Violation("a webhook has no answer at the end")
        if len(self.records) != len(self.senders):
            raise Violation(f"{len(self.records)} records of {len(self.senders)} webhooks")
        unsent = {record.event.id for record in self.records if record.event and record.delivery == "not sent"}
        if any(one.event_id.decode() in unsent and one.body.decode() in self.sqs.queue for one in self.senders):
            raise Violation("the record says `not sent`, and the queue has the message")


def _lean(limits: SendLimits) -> LeanQueue:
    """Returns the real client, which knows its credentials and the queue's URL already."""
    endpoint, address = urlsplit("http://sqs.local"), QueueAddress("invoices", None)
    account: Any = SimpleNamespace(address=address, endpoint=endpoint, ca_bundle=None, region="eu-central-1")
    queue = LeanQueue(account, limits)
    queue._credentials, queue._url = Credentials("key", "secret"), "http://sqs.local/1/invoices"
    return queue
