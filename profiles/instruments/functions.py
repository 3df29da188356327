"""A table of functions of `app` and of libraries, and what they do. Profiles, timelines and counts of calls use it.

A test checks that each function exists, because most of these functions are private to `app` or to a library.
"""

from enum import StrEnum
from typing import NamedTuple


class Stage(StrEnum):
    """The stages through which a webhook passes, in this order."""

    READ = "read and parse the request"
    ROUTE = "ASGI and routing"
    GATE = "authenticate and admit"
    VALIDATE = "validate the JSON"
    MESSAGE = "build the message"
    SQS = "call SQS, and wait"
    ANSWER = "answer"
    RECORD = "log line, trace, metrics"


class State(StrEnum):
    """The state of a thread, a task or a webhook: what it does, or what it waits for."""

    IDLE = "idle"
    RUNNING = "running"
    CLIENT = "building a client"
    CAS = "loading CAs"
    CONNECTING = "connecting"
    SQS = "waiting for SQS"
    TABLE = "waiting for DynamoDB"
    CHARGEBEE = "waiting for Chargebee"
    # Only a webhook can have the following states; a thread cannot.
    TURN = "waiting for its turn"
    TOKEN = "waiting for a token"  # noqa: S105  # a state, not a password
    THREAD = "in a thread"
    BATCH = "waiting in a batch"


class Function(NamedTuple):
    """A function, or, if `name` is "", all functions of a file or folder.

    `file`: the end of a file's path or, if `file` ends in `/`, a folder in the path. `name`: a qualified name.
    `stage`: the stage of the function's calls. A function without a stage has the stage of its caller.

    Three fields give states. `innermost`: the state of a thread whose innermost function is this function. `thread`:
    the state of a thread with this function anywhere in the stack. `task`: the state of a suspended task with this
    function anywhere in the stack.
    """

    file: str
    name: str
    stage: Stage | None = None
    innermost: State | None = None
    thread: State | None = None
    task: State | None = None

    @property
    def plain(self) -> str:
        """Returns the name without the class."""
        return self.name.rpartition(".")[2]


# uvicorn runs the coroutine WEBHOOK for each request, and group commit runs the coroutine CALL for each call to SQS.
WEBHOOK = Function("uvicorn/protocols/http/httptools_impl.py", "RequestResponseCycle.run_asgi", Stage.ROUTE)
CALL = Function("app/sqs/group_commit.py", "GroupCommit._send", Stage.SQS)

FUNCTIONS = (
    WEBHOOK,
    CALL,
    # Reading and routing
    Function("uvicorn/protocols/http/httptools_impl.py", "HttpToolsProtocol.data_received", Stage.READ),
    Function("uvicorn/protocols/http/httptools_impl.py", "HttpToolsProtocol.on_headers_complete", Stage.ROUTE),
    # The first matching entry counts, so these entries come before `app/server/`.
    Function("app/server/request.py", "Request.begin", Stage.ANSWER),
    Function("app/server/request.py", "Request.end", Stage.ANSWER),
    Function("app/server/request.py", "Request.detach", Stage.ANSWER),
    Function("app/server/responses.py", "", Stage.ANSWER),
    Function("app/server/", "", Stage.READ),
    Function("starlette/requests.py", "Request.body", Stage.READ),
    Function("app/web/serve.py", "", Stage.ROUTE),
    Function("app/web/webhooks.py", "DirectWebhook.proceed", Stage.ROUTE),
    Function("app/web/releases/", "receive", Stage.ROUTE),
    # Authentication, admission, and the event
    Function("app/web/intake.py", "Intake.shed", Stage.GATE),
    Function("app/web/intake.py", "Intake.head", Stage.GATE),
    Function("app/web/admission.py", "", Stage.GATE),
    Function("app/web/webhooks.py", "DirectWebhook.begin", Stage.GATE),
    Function("app/web/webhook.py", "read_event", Stage.VALIDATE),
    Function("app/web/webhooks.py", "DirectWebhook.read_event", Stage.VALIDATE),
    # The message, and the call to SQS
    Function("app/sqs/message.py", "to_message", Stage.MESSAGE),
    Function("app/sqs/blocking.py", "BlockingQueue.resolve", innermost=State.SQS),  # waits for another thread's request
    Function("app/sqs/blocking.py", "build_queue", thread=State.CLIENT),
    Function("app/billing/inline_clients.py", "build_clients", thread=State.CLIENT),
    Function("app/sqs/native.py", "NativeQueue.send", task=State.SQS),
    Function("app/sqs/native.py", "NativeQueue.send_batch", task=State.SQS),
    Function("app/sqs/lean.py", "LeanQueue.send_batch", task=State.SQS),
    Function("app/sqs/group_commit.py", "GroupCommit.send", task=State.BATCH),
    Function("app/sqs/group_commit.py", "GroupCommit.submit", task=State.BATCH),  # for a webhook without a task
    Function("app/sqs/group_commit.py", "", Stage.SQS),
    Function("app/sqs/native.py", "", Stage.SQS),
    Function("app/sqs/blocking.py", "", Stage.SQS),
    Function("app/sqs/sqs_connection.py", "", Stage.SQS),
    Function("aiohttp/", "", Stage.SQS),
    # The answer and the record
    Function("app/web/webhook.py", "queued", Stage.ANSWER),
    Function("app/web/webhooks.py", "DirectWebhook.settled", Stage.ANSWER),
    Function("fastapi/routing.py", "_build_response_args", Stage.ANSWER),
    Function("fastapi/routing.py", "serialize_response", Stage.ANSWER),
    Function("starlette/responses.py", "Response.__init__", Stage.ANSWER),
    Function("starlette/responses.py", "Response.headers", Stage.ANSWER),
    Function("starlette/responses.py", "Response.__call__", Stage.ANSWER),
    Function("app/web/intake.py", "Intake.begin", Stage.RECORD),
    Function("app/web/intake.py", "Intake.end", Stage.RECORD),
    Function("app/telemetry/metrics/", "", Stage.RECORD),
    Function("app/telemetry/lines.py", "", Stage.RECORD),
    # Threads and tasks of libraries
    Function("asyncio/runners.py", "Runner.run", innermost=State.IDLE),  # uvloop waits without a Python frame
    Function("selectors.py", "EpollSelector.select", innermost=State.IDLE),
    Function("threading.py", "Condition.wait", innermost=State.IDLE),
    Function("queue.py", "Queue.get", innermost=State.IDLE),
    Function("concurrent/futures/thread.py", "_worker", innermost=State.IDLE),
    Function("local/child.py", "_wait_for_end", innermost=State.IDLE),  # waits for the end of the parent process
    Function("socket.py", "SocketIO.readinto", thread=State.SQS),
    Function("ssl.py", "SSLSocket.do_handshake", thread=State.CONNECTING),
    Function("urllib3/util/connection.py", "create_connection", thread=State.CONNECTING),
    Function("anyio/_backends/_asyncio.py", "CapacityLimiter.acquire_on_behalf_of", task=State.TOKEN),
    Function("anyio/_backends/_asyncio.py", "AsyncIOBackend.run_sync_in_worker_thread", task=State.THREAD),
)


def stage_of(file: str, name: str) -> Stage | None:
    """Returns the stage of the function with the qualified name `name` in `file`, or None if FUNCTIONS has none."""
    return next((one.stage for one in FUNCTIONS if one.stage is not None and covers(one, file, name)), None)


def covers(known: Function, file: str, name: str) -> bool:
    """Returns whether `known` is the function with the qualified name `name` in `file`, or its whole file or folder."""
    in_file = f"/{known.file}" in file if known.file.endswith("/") else file.endswith(f"/{known.file}")
    return in_file and known.name in ("", name)
