"""Assigns each call of a trace to a stage of the webhook."""

from collections import Counter
from enum import StrEnum

from profiles.one_webhook.counter import Call, Trace


class Stage(StrEnum):
    """The stages, in the order of the webhook's way.

    READ also contains the calls at the trace's beginning that no rule matches.
    """

    READ = "read and parse the request"
    ROUTE = "ASGI and routing"
    GATE = "authenticate and admit"
    VALIDATE = "validate the JSON"
    MESSAGE = "build the message"
    SQS = "call SQS, and wait"
    ANSWER = "answer"
    RECORD = "log line, trace, metrics"


# A part of the file's path, and the beginning of the function's name. The first rule that applies decides. A call to
# which no rule applies belongs to the stage of the calling function.
_RULES = (
    (
        "app/web/server/protocol",
        ("BoundedHttpToolsProtocol.data_received", "CallbackProtocol.data_received"),
        Stage.READ,
    ),
    ("app/web/server/received.py", ("ReceivedBytes._end_iteration",), Stage.READ),
    ("starlette/requests.py", ("Request.body",), Stage.READ),
    ("app/web/callbacks.py", ("CallbackWebhook._count",), Stage.READ),
    (
        "uvicorn/protocols/http/",
        ("HttpToolsProtocol.on_headers_complete", "RequestResponseCycle.run_asgi"),
        Stage.ROUTE,
    ),
    ("app/web/server/protocol_callbacks.py", ("CallbackProtocol._is_for_the_door",), Stage.ROUTE),
    ("app/web/callbacks.py", ("CallbackDoor.exchange", "CallbackWebhook.body_complete"), Stage.ROUTE),
    ("app/web/releases/", ("receive",), Stage.ROUTE),
    ("app/web/gate/gate.py", ("Gate.shed", "Gate.authenticate", "Gate.admit"), Stage.GATE),
    ("app/web/gate/admission.py", ("",), Stage.GATE),
    ("app/web/callbacks.py", ("CallbackWebhook.head_complete",), Stage.GATE),
    ("app/web/webhook.py", ("read_event",), Stage.VALIDATE),
    ("app/web/callbacks.py", ("CallbackWebhook.read_event",), Stage.VALIDATE),
    ("app/sqs/message.py", ("to_message",), Stage.MESSAGE),
    ("app/sqs/group_commit.py", ("",), Stage.SQS),
    ("app/sqs/native.py", ("",), Stage.SQS),
    ("app/sqs/connection.py", ("",), Stage.SQS),
    ("/aiohttp/", ("",), Stage.SQS),
    ("app/web/webhook.py", ("queued",), Stage.ANSWER),
    ("app/web/callbacks.py", ("CallbackWebhook.settled",), Stage.ANSWER),
    ("fastapi/routing.py", ("_build_response_args", "serialize_response"), Stage.ANSWER),
    ("starlette/responses.py", ("Response.__init__", "Response.headers", "Response.__call__"), Stage.ANSWER),
    ("app/web/gate/gate.py", ("Gate.begin", "Gate.end"), Stage.RECORD),
    ("app/telemetry/metrics/", ("",), Stage.RECORD),
    ("app/telemetry/lines.py", ("",), Stage.RECORD),
)
# FastAPI makes a response for the dependencies, too, although the release has none.
_DEPENDENCIES = "solve_dependencies"


def calls_by_stage(trace: Trace) -> dict[Stage, int]:
    """Returns the number of calls in each stage that has calls, in the order of `Stage`."""
    counts = Counter(stage for stage, call in zip(_stages(trace), trace.calls, strict=True) if call.began)
    return {stage: counts[stage] for stage in Stage if counts[stage]}


def _stages(trace: Trace) -> list[Stage]:
    """Returns the stage of each call. A callback without a rule belongs to the stage of the call before it."""
    found: list[Stage] = []
    before = Stage.READ
    for call in trace.calls:
        if call.caller is None:
            before = _ruled(call) or before
        elif trace.calls[call.caller].function == _DEPENDENCIES:
            before = found[call.caller]
        else:
            before = _ruled(call) or found[call.caller]
        found.append(before)
    return found


def _ruled(call: Call) -> Stage | None:
    for file, functions, stage in _RULES:
        if file in call.file and call.function.startswith(functions):
            return stage
    return None
