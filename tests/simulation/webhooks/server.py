"""A model of SQS behind transports in memory: it answers late, partly, wrongly, twice or never, and may close."""

from enum import StrEnum
from typing import Any, NamedTuple

import orjson

from loadtest.stage.fake_transports import SqsConnection, response


class Answer(StrEnum):
    """Names what SQS does with a call. The value completes the sentence `SQS …`."""

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


class Call(NamedTuple):
    """A request that has arrived, and waits for the scheduler to choose an answer."""

    connection: SqsConnection
    entries: list[dict[str, Any]]


class ModelSqs:
    """SQS. `queue`: the messages' bodies. `calls`: the unanswered calls. `rests`: unsent halves of answers."""

    def __init__(self) -> None:
        self.queue: list[str] = []
        self.calls: list[Call] = []
        self.rests: list[tuple[SqsConnection, bytes]] = []

    def on_request(self, connection: SqsConnection, _: bytes, body: bytes) -> None:
        self.calls.append(Call(connection, orjson.loads(body)["Entries"]))

    def answer(self, call: Call, how: Answer) -> None:
        self.calls.remove(call)
        if how in (Answer.THROTTLES, Answer.REFUSES_ALL):
            code = "RequestThrottled" if how is Answer.THROTTLES else "InvalidMessageContents"
            error = orjson.dumps({"__type": f"com.amazonaws.sqs#{code}"})
            deliver(call.connection, response(error, b"400 Bad Request"))
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
        self._send(call.connection, how, response(orjson.dumps({"Successful": successful, "Failed": errors})))

    def _send(self, connection: SqsConnection, how: Answer, sent: bytes) -> None:
        """Sends the response whole, in parts, twice or not at all."""
        half = len(sent) // 2
        match how:
            case Answer.CLOSES:
                connection.close()
            case Answer.CLOSES_WITHIN:
                deliver(connection, sent[:half])
                connection.close()
            case Answer.TAKES_IN_PARTS:
                deliver(connection, sent[:half])
                self.rests.append((connection, sent[half:]))
            case Answer.ANSWERS_TWICE:
                deliver(connection, sent + sent)
            case _:
                deliver(connection, sent)


def deliver(connection: SqsConnection, data: bytes) -> None:
    """Passes the server's bytes to the client, unless the client has closed the connection."""
    if not connection.is_closing():
        connection.protocol.data_received(data)
