"""Says what known functions do, for profiles, timelines and counts of calls: one table.

A test checks that each function exists, because most of them are private to `app` or to a library.
"""

from enum import StrEnum
from typing import NamedTuple


class Stage(StrEnum):
    """The stages of a webhook, in the order of its way."""

    READ = "read and parse the request"
    ROUTE = "ASGI and routing"
    GATE = "authenticate and admit"
    VALIDATE = "validate the JSON"
    MESSAGE = "build the message"
    SQS = "call SQS, and wait"
    ANSWER = "answer"
    RECORD = "log line, trace, metrics"


class State(StrEnum):
    """Says what a thread, a task or a webhook does, or what it waits for."""

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
    """A function, or with a `name` of "", all functions of a file or folder.

    `file` is the end of the file's path, or if the path ends in `/`, a folder in it. `name` is a qualified name.
    `stage`: the stage of its calls, and of the calls in it that have no stage of their own.
    The state of a thread or task in the function: `innermost` if it is the innermost one of a thread, `thread` if it is
    anywhere in a thread's stack, `task` if it is anywhere in the stack of a suspended task.
    """

    file: str
    name: str
    stage: Stage | None = None
    innermost: State | None = None
    thread: State | None = None
    task: State | None = None

    @property
    def plain(self) -> str:
        """The name without the class."""
        return self.name.rpartition(".")[2]


# uvicorn runs this coroutine for each request, and group commit the other one for each call to SQS.
WEBHOOK = Function("uvicorn/protocols/http/httptools_impl.py", "RequestResponseCycle.run_asgi", Stage.ROUTE)
CALL = Function("app/sqs/group_commit.py", "GroupCommit._send", Stage.SQS)

FUNCTIONS = (
    WEBHOOK,
    CALL,
    # Reading and routing
    Function("uvicorn/protocols/http/httptools_impl.py", "HttpToolsProtocol.data_received", Stage.READ),
    Function("uvicorn/protocols/http/httptools_impl.py", "HttpToolsProtocol.on_headers_complete", Stage.ROUTE),
    Function("app/web/server/protocol.py", "BoundedHttpToolsProtocol.data_received", Stage.READ),
    Function("app/web/server/protocol_callbacks.py", "CallbackProtocol.data_received", Stage.READ),
    Function("app/web/server/protocol_callbacks.py", "CallbackProtocol._is_for_the_door", Stage.ROUTE),
    Function("app/web/server/received.py", "ReceivedBytes._end_iteration", Stage.READ),
    Function("starlette/requests.py", "Request.body", Stage.READ),
    Function("app/web/callbacks.py", "CallbackWebhook._count", Stage.READ),
    Function("app/web/callbacks.py", "CallbackDoor.exchange", Stage.ROUTE),
    Function("app/web/callbacks.py", "CallbackWebhook.body_complete", Stage.ROUTE),
    Function("app/web/releases/", "receive", Stage.ROUTE),
    # The gate and the event
    Function("app/web/gate/gate.py", "Gate.shed", Stage.GATE),
    Function("app/web/gate/gate.py", "Gate.authenticate", Stage.GATE),
    Function("app/web/gate/gate.py", "Gate.admit", Stage.GATE),
    Function("app/web/gate/admission.py", "", Stage.GATE),
    Function("app/web/callbacks.py", "CallbackWebhook.head_complete", Stage.GATE),
    Function("app/web/webhook.py", "read_event", Stage.VALIDATE),
    Function("app/web/callbacks.py", "CallbackWebhook.read_event", Stage.VALIDATE),
    # The message, and the call to SQS
    Function("app/sqs/message.py", "to_message", Stage.MESSAGE),
    Function("app/sqs/blocking.py", "BlockingQueue.resolve", innermost=State.SQS),  # another thread fetches the URL
    Function("app/sqs/blocking.py", "build_queue", thread=State.CLIENT),
    Function("app/billing/blocking.py", "build_clients", thread=State.CLIENT),
    Function("app/sqs/native.py", "NativeQueue.send", task=State.SQS),
    Function("app/sqs/native.py", "NativeQueue.send_batch", task=State.SQS),
    Function("app/sqs/lean.py", "LeanQueue.send_batch", task=State.SQS),
    Function("app/sqs/group_commit.py", "GroupCommit.send", task=State.BATCH),
    Function("app/sqs/group_commit.py", "GroupCommit.submit", task=State.BATCH),  # for a webhook without a task
    Function("app/sqs/group_commit.py", "", Stage.SQS),
    Function("app/sqs/native.py", "", Stage.SQS),
    Function("app/sqs/connection.py", "", Stage.SQS),
    Function("aiohttp/", "", Stage.SQS),
    # The answer and the record
    Function("app/web/webhook.py", "queued", Stage.ANSWER),
    Function("app/web/callbacks.py", "CallbackWebhook.settled", Stage.ANSWER),
    Function("fastapi/routing.py", "_build_response_args", Stage.ANSWER),
    Function("fastapi/routing.py", "serialize_response", Stage.ANSWER),
    Function("starlette/responses.py", "Response.__init__", Stage.ANSWER),
    Function("starlette/responses.py", "Response.headers", Stage.ANSWER),
    Function("starlette/responses.py", "Response.__call__", Stage.ANSWER),
    Function("app/web/gate/gate.py", "Gate.begin", Stage.RECORD),
    Function("app/web/gate/gate.py", "Gate.end", Stage.RECORD),
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


def covers(known: Function, file: str, name: str) -> bool:
    """Returns whether `known` is the function with the qualified name `name` in `file`, or contains that function."""
    in_file = f"/{known.file}" in file if known.file.endswith("/") else file.endswith(f"/{known.file}")
    return in_file and known.name in ("", name)
