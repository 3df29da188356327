"""A model of SQS behind transports in memory: it answers late, partly, wrongly, twice or never, and may close."""

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import orjson


class Answer(StrEnum):
    """What SQS does with a call. The value completes the sentence `SQS …`."""

    TAKES = "takes the messages"
    TAKES_IN_PARTS = "takes the messages, and sends its answer in two parts"
    REFUSES_ONE = "refuses the last message"
    THROTTLES = "takes nothing, and answers that it is throttled"
    REFUSES_ALL = "takes nothing, and answers that one message is invalid"
    NAMES_OTHERS = "takes nothing, and acknowledges the messages of another call"
    SAYS_BOTH = "takes nothing, and names each message as taken and as failed"
    CLOSES = "takes the messages, and closes the connection before its answer"
    CLOSES_WITHIN = "takes the messages, and closes the connection within its answer"
    ANSWERS_TWICE = "takes the messages, and answers twice"


class Call:
    """A request that has arrived, and waits for the scheduler to choose an answer."""

    def __init__(self, transport: "Wire", entries: list[dict[str, Any]]) -> None:
        self.transport, self.entries = transport, entries


class ModelSqs:
    """SQS. `queue`: the messages' bodies. `calls`: the unanswered calls. `rests`: unsent halves of answers."""

    def __init__(self) -> None:
        self.queue: list[str] = []
        self.calls: list[Call] = []
        self.rests: list[tuple[Wire, bytes]] = []

    def answer(self, call: Call, how: Answer) -> None:
        self.calls.remove(call)
        if how in (Answer.THROTTLES, Answer.REFUSES_ALL):
            code = "RequestThrottled" if how is Answer.THROTTLES else "InvalidMessageContents"
            call.transport.deliver(_response(400, {"__type": f"com.amazonaws.sqs#{code}"}))
            return
        ids = [entry["Id"] for entry in call.entries]
        taken, acknowledged, failed = {
            Answer.REFUSES_ONE: (call.entries[:-1], ids[:-1], ids[-1:]),
            Answer.NAMES_OTHERS: ([], [f"other-{one}" for one in ids], []),
            Answer.SAYS_BOTH: ([], ids, ids),
        }.get(how, (call.entries, ids, []))
        self.queue += [entry["MessageBody"] for entry in taken]
        successful = [{"Id": one, "MessageId": f"m-{one}"} for one in acknowledged]
        errors = [{"Id": one, "Code": "InternalError", "SenderFault": False} for one in failed]
        self._send(call.transport, how, _response(200, {"Successful": successful, "Failed": errors}))

    def _send(self, transport: "Wire", how: Answer, response: bytes) -> None:
        """Sends the response whole, in parts, twice or not at all."""
        send, half = transport.deliver, len(response) // 2
        match how:
            case Answer.CLOSES:
                transport.end()
            case Answer.CLOSES_WITHIN:
                send(response[:half])
                transport.end()
            case Answer.TAKES_IN_PARTS:
                send(response[:half])
                self.rests.append((transport, response[half:]))
            case Answer.ANSWERS_TWICE:
                send(response + response)
            case _:
                send(response)


class Wire(asyncio.Transport):
    """A connection to the model. The client's bytes become a call as soon as a request is complete."""

    def __init__(self, sqs: ModelSqs, protocol: Any, call_soon: Callable[..., object]) -> None:
        super().__init__()
        self._sqs, self._protocol, self._call_soon = sqs, protocol, call_soon
        self._closed = False

    def write(self, data: Any) -> None:
        _, _, body = bytes(data).partition(b"\r\n\r\n")
        self._sqs.calls.append(Call(self, orjson.loads(body)["Entries"]))

    def deliver(self, data: bytes) -> None:
        """Passes the server's bytes to the client, unless the client has closed the connection."""
        if not self._closed:
            self._call_soon(self._protocol.data_received, data)

    def end(self) -> None:
        """Closes the connection, as the server or the client may do."""
        if not self._closed:
            self._closed = True
            self._call_soon(self._protocol.connection_lost, None)

    def abort(self) -> None:
        self.end()

    def close(self) -> None:
        self.end()

    def is_closing(self) -> bool:
        return self._closed

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default


def _response(status: int, content: dict[str, Any]) -> bytes:
    body = orjson.dumps(content)
    return b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n%s" % (status, len(body), body)
