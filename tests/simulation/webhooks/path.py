"""One run of the webhook's path."""

import math
import random
import socket
from collections.abc import Callable
from typing import Any

from app.server.connection import Connection
from app.server.limits import LINGER_SECONDS, SWEEP_SECONDS, ConnectionLimits, Limits
from app.settings import NEWEST
from app.sqs.group_commit import GroupCommit
from app.sqs.queue import SendLimits
from app.telemetry.observers import Observers
from app.telemetry.record import WebhookRecord, unobserved
from app.web import releases
from app.web.admission import Admission
from app.web.intake import Intake
from app.web.webhooks import Webhooks
from loadtest.stage.fake_transports import SqsConnection
from local.sample_events import default_file, fresh_events
from tests.simulation.loop import RESOLUTION, VirtualLoop, described
from tests.simulation.steps import Violation
from tests.simulation.webhooks.bound import Bound
from tests.simulation.webhooks.invariants import DEADLINE, check_deadline, check_end, check_ended, check_lost
from tests.simulation.webhooks.sender import Sender
from tests.simulation.webhooks.server import ModelSqs
from tests.simulation.webhooks.service import SETTINGS, lean
from tests.simulation.webhooks.webhook import Webhook

BODIES = list(fresh_events(default_file().read_bytes(), 3))


class _Loop(VirtualLoop):
    """An event loop whose connections lead to the model of SQS."""

    sqs: ModelSqs

    async def getaddrinfo(self, *_: Any, **__: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 0))]

    async def sock_connect(self, *_: Any) -> None:
        pass

    async def create_connection(self, protocol_factory: Callable[[], Any], *_: Any, **options: Any) -> Any:
        options["sock"].close()
        connection = SqsConnection(protocol_factory(), self.sqs.on_request)
        return connection, connection.protocol


class PathRun:
    """A new process with the server's connections, group commit and the lean client, and an empty SQS.

    `bound`: with one slot, two webhooks share the second call. `undisturbed`: True until something happens after which
    the service may answer 503.
    """

    def __init__(self, bound: Bound) -> None:
        random.seed(0)  # the lean client's pauses
        self.now = 0.0
        self.loop = _Loop(lambda: self.now)
        self.loop.sqs = self.sqs = ModelSqs()
        self.failure: str | None = None
        self.loop.set_exception_handler(lambda _, context: self.fail(described(context)))
        self.records: list[WebhookRecord] = []
        self.admission = Admission(SETTINGS)
        intake = Intake(SETTINGS, self.admission, Observers(), self.records.append)
        limits = SendLimits(DEADLINE, calls=bound.slots)
        if bound.full:
            limits = limits._replace(call_bytes=len(BODIES[0]) * 3 // 2)
        self.group_commit = GroupCommit(lean(limits), limits, unobserved)
        self.handler = Webhooks(intake, releases.load(NEWEST).receive)
        self.handler.begin({"queue": self.group_commit})
        limited = Limits(SETTINGS.head_timeout, SETTINGS.body_timeout, SETTINGS.keep_alive_timeout)
        self.limits = ConnectionLimits(self.loop, limited)
        self.connections: set[Connection] = set()
        self.bound = bound
        self.senders, self.webhooks = list[Sender](), list[Webhook]()
        self.stopped, self.undisturbed = False, True

    def fail(self, what: str) -> None:
        self.failure = self.failure or what

    def connect(self) -> Connection:
        return Connection(self.handler, self.limits, self.connections)

    def do(self, *actions: Callable[[], object], settle: bool = True) -> None:
        """Runs the actions in one iteration of the loop. If `settle` is False, the next actions share it."""
        for action in actions:
            self.loop.call_soon(action)
        if settle:
            self.loop.settle()

    @property
    def next_time(self) -> float | None:
        """The time of the next timer, or None. The regular check of deadlines counts only if a deadline is due."""
        sweep = self.limits._sweeping
        stored = (*self.limits._deadlines.values(), *self.limits._body_deadlines.values())
        late = min((until - sweep.when() for until in stored), default=math.inf)
        found = math.inf if (timer := self.loop.next_timer(sweep)) is None else timer
        if late < math.inf:
            found = min(found, sweep.when() + SWEEP_SECONDS * max(0, math.ceil(late / SWEEP_SECONDS)))
        return None if found == math.inf else found

    def pass_time(self, until: float) -> None:
        """Lets time pass until `until`, and fires the timers that are due."""
        while (timer := self.loop.next_timer()) is not None and timer <= until + RESOLUTION:
            self.now = max(self.now, timer)
            self.loop.settle()
        self.now = max(self.now, until)

    def check(self) -> None:
        """Raises Violation if an invariant does not hold now."""
        for webhook in self.webhooks:
            check_deadline(self, webhook)
        for sender in self.senders:
            check_lost(self, sender)
        if self.failure is not None:
            raise Violation(self.failure)

    def end(self) -> None:
        """Stops the process, and then lets the deadlines of the connections pass.

        Raises Violation if a webhook has no answer, if a counter is not 0, or if a connection stays open.
        """
        self.undisturbed = self.undisturbed and not any(webhook.waits for webhook in self.webhooks)
        self.do(*(connection.stop_waiting for connection in list(self.connections)))
        closing = self.loop.create_task(self.group_commit.close(DEADLINE))
        self.loop.settle()
        while not closing.done() and (timer := self.next_time) is not None:
            self.pass_time(timer)
        self.check()
        check_end(self, closed=closing.done())
        self._outlast()

    def _outlast(self) -> None:
        """Checks that each connection ends at its deadline, even if the sender is inactive. Raises Violation."""
        for sender in self.senders:
            sender.reads = False
        closing = [sender for sender in self.senders if sender.is_closing() or sender.parts]
        self._skip(LINGER_SECONDS)
        check_ended(self, closing)
        self._skip(SETTINGS.keep_alive_timeout)
        self._skip(LINGER_SECONDS)
        check_ended(self, self.senders)
        self.check()

    def _skip(self, seconds: float) -> None:
        """Lets time pass in one step, and then until the next sweep: the first one only finds out that it is late."""
        for step in (seconds, SWEEP_SECONDS):
            self.now += step
            self.loop.settle()
