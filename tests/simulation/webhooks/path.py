"""One run of the webhook's path."""

import math
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from uvicorn.server import ServerState

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
from app.web.server.connections import SWEEP_SECONDS, ConnectionLimits
from app.web.server.protocol_callbacks import CallbackProtocol
from local.sample_events import default_file, fresh_events
from tests.simulation.loop import RESOLUTION, VirtualLoop
from tests.simulation.steps import Violation
from tests.simulation.webhooks.invariants import DEADLINE, check_deadline, check_end
from tests.simulation.webhooks.sender import Sender
from tests.simulation.webhooks.server import ModelSqs, Wire

WEBHOOKS = 3
BODIES = list(fresh_events(default_file().read_bytes(), WEBHOOKS))
SETTINGS = GateSettings.model_validate({"basic_auth_username": "user", "basic_auth_password": "password"})
HEAD_TIMEOUT, KEEP_ALIVE = 10.0, 65.0
_CONFIG = uvicorn.Config(v11_without_asgi.receive, http=CallbackProtocol, lifespan="off", log_config=None)
_CONFIG.load()


class _Loop(VirtualLoop):
    """An event loop whose connections lead to the model of SQS."""

    sqs: ModelSqs

    async def create_connection(self, protocol_factory: Callable[[], Any], *_: Any, **__: Any) -> Any:
        protocol = protocol_factory()
        wire = Wire(self.sqs, protocol, self.call_soon)
        protocol.connection_made(wire)
        return wire, protocol


class PathRun:
    """A new process with the server's protocol, the second door, group commit and the lean client, and an empty SQS.

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
        self.limits = ConnectionLimits(self.loop, HEAD_TIMEOUT, KEEP_ALIVE)
        self.senders: list[Sender] = []
        self.stopped, self.undisturbed = False, True

    def fail(self, what: str) -> None:
        self.failure = self.failure or what

    def connect(self) -> CallbackProtocol:
        return CallbackProtocol(
            door=self.door,
            limits=self.limits,
            config=_CONFIG,
            server_state=ServerState(),
            app_state={"queue": self.group_commit},
            _loop=self.loop,
        )

    def do(self, *actions: Callable[[], None], settle: bool = True) -> None:
        """Runs the actions in one iteration of the loop. Without `settle`, the next actions share the iteration."""
        for action in actions:
            self.loop.call_soon(action)
        if settle:
            self.loop.settle()

    @property
    def next_time(self) -> float | None:
        """The time of the next timer, or None. The sweep of deadlines counts only if one of them is due."""
        sweep = self.limits._sweeping
        stored = (*self.limits._deadlines.values(), *self.limits._body_deadlines.values())
        late = min((until - sweep.when() for until, _ in stored), default=math.inf)
        found = math.inf if (timer := self.loop.next_timer(sweep)) is None else timer
        if late < math.inf:
            found = min(found, sweep.when() + SWEEP_SECONDS * max(0, math.ceil(late / SWEEP_SECONDS)))
        return None if found == math.inf else found

    def pass_time(self, until: float) -> None:
        """Lets time pass, and the timers fire that are due by then."""
        while (timer := self.loop.next_timer()) is not None and timer <= until + RESOLUTION:
            self.now = max(self.now, timer)
            self.loop.settle()

    def check(self) -> None:
        """Raises Violation if an invariant does not hold now."""
        for sender in self.senders:
            check_deadline(self, sender)
        if self.failure is not None:
            raise Violation(self.failure)

    def end(self) -> None:
        """Stops the process. Raises Violation unless every webhook has its answer, and every counter is 0."""
        self.undisturbed = self.undisturbed and not any(sender.waits for sender in self.senders)
        self.do(self.door.stop)
        closing = self.loop.create_task(self.group_commit.close(DEADLINE))
        self.loop.settle()
        while not closing.done() and (timer := self.next_time) is not None:
            self.pass_time(timer)
        self.check()
        check_end(self, closed=closing.done())


def _lean(limits: SendLimits) -> LeanQueue:
    """Returns the real client, which knows its credentials and the queue's URL already."""
    endpoint, address = urlsplit("http://sqs.local"), QueueAddress("invoices", None)
    account: Any = SimpleNamespace(address=address, endpoint=endpoint, ca_bundle=None, region="eu-central-1")
    queue = LeanQueue(account, limits)
    queue._credentials, queue._url = Credentials("key", "secret"), "http://sqs.local/1/invoices"
    return queue
