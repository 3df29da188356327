"""`python -m app reconcile` with events that cannot be enqueued, and with events that have a final verdict."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from app.errors import QueueUnavailable
from app.events import PENDING_INVOICE_CREATED
from app.worker import event_comparison as module
from app.worker.event_comparison import OUTAGE, Comparison, Summary
from tests.billing.stage import Stage, event_body
from tests.harness.service import clean_environment
from tests.harness.sqs_stand_in import Call, Failure, SqsStandIn

REFUSED = "InvalidParameterValue"  # as SQS answers to a message that is longer than the queue allows
Ended = subprocess.CompletedProcess[str]


@contextmanager
def listing(*pages: object) -> Iterator[str]:
    """Yields the URL of a site whose List Events has these pages."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            number = int(self.path.partition("offset=")[2] or 0)
            more = {} if number + 1 == len(pages) else {"next_offset": str(number + 1)}
            answer = json.dumps({"list": pages[number], **more}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def _reconcile(stage: Stage, site: str, sqs: SqsStandIn, aws: str) -> Ended:
    ours = {
        "sqs_queue_url": sqs.queue_url,
        "billing_table": stage.table,
        "chargebee_url": site,
        "chargebee_api_key": "key",
        "chargebee_rate": 1_000_000,
    }
    credentials = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}
    endpoints = {"AWS_ENDPOINT_URL": aws, "AWS_ENDPOINT_URL_SQS": sqs.endpoint, "AWS_EC2_METADATA_DISABLED": "true"}
    command = [sys.executable, "-m", "app", "reconcile", "--since", "9999d", "--settled", "0s"]
    environment = clean_environment(**ours) | credentials | endpoints
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=120, check=False)


def _claimed(stage: Stage, **attributes: str) -> dict[str, Any]:
    """Returns an event whose claim has these attributes."""
    body = event_body()
    item: Any = {name: {"S": value} for name, value in attributes.items()}
    key = {"pk": {"S": f"event#{body['id']}"}, "sk": {"S": "claim"}}
    stage.dynamodb.put_item(TableName=stage.table, Item=key | item)
    return body


def _entries(*events: object) -> list[object]:
    return [{"event": event} for event in events]


def _ids(sqs: SqsStandIn) -> list[str]:
    sent = [call for call in sqs.calls if call.action == "SendMessage"]
    return [json.loads(call.data["MessageBody"])["id"] for call in sent]


def _refuse(event_id: str) -> Any:
    def failing(call: Call) -> Failure | None:
        return Failure(400, REFUSED) if event_id in call.data.get("MessageBody", "") else None

    return failing


def test_the_events_behind_an_odd_one_are_enqueued(stage: Stage, embedded: Any) -> None:
    """Each event that cannot be enqueued is named with the cause, and the exit code is 1."""
    first, refused, last = event_body(), event_body(), event_body()
    invalid, other = event_body(currency_code=None), event_body() | {"event_type": "other", "content": {"invoice": 1}}
    without = {name: value for name, value in event_body().items() if name != "id"} | {"occurred_at": "soon"}
    done = _claimed(stage, status="done")
    pages = [
        [*_entries(first, without), None, {}],
        _entries(refused, [], {"id": "two words"}, invalid, other, done, last),
    ]
    with SqsStandIn() as sqs, listing(*pages) as site:
        sqs.failing = _refuse(refused["id"])
        ended = _reconcile(stage, site, sqs, embedded.endpoint)
        assert _ids(sqs) == [first["id"], refused["id"], last["id"]]  # the refused one is not tried again
    assert ended.returncode == 1, ended
    lines = ended.stdout.splitlines()
    assert lines[:-1] == [
        f"  {first['id']}",
        f"  {last['id']}",
        "  entry 2 (id None, occurred_at 'soon'): could not be enqueued: its id is missing or not valid",
        *(
            f"  entry {number} (id None, occurred_at None): could not be enqueued: its id is missing or not valid"
            for number in (3, 4, 6)
        ),
        "  entry 7 (id 'two words', occurred_at None): could not be enqueued: its id is missing or not valid",
        f"  {refused['id']}: could not be enqueued: SQS refuses it: {REFUSED}",
        f"  {invalid['id']}: could not be enqueued: the webhook would reject it: The body is not a Chargebee event",
        f"  {other['id']}: could not be enqueued: the webhook would reject it: its type is not in APP_EVENT_TYPES",
    ]
    assert lines[-1] == (
        "11 events at Chargebee: 1 processed, 10 missing, 2 enqueued, 0 that can never succeed,"
        " 8 that could not be enqueued"
    )


def test_a_dead_letter_gets_no_copy(stage: Stage, embedded: Any) -> None:
    """An event with a final verdict is named, and left in the dead-letter queue, however often the command runs."""
    binding = _claimed(stage, status="failed", code="closed_without_charges")
    still_open = _claimed(stage, status="working", code="param_wrong_value", verdict="param_wrong_value")
    retried = _claimed(stage, status="working", code="chargebee_http_502")
    with SqsStandIn() as sqs, listing(_entries(binding, still_open)) as site:
        runs = [_reconcile(stage, site, sqs, embedded.endpoint) for _ in range(2)]
        assert _ids(sqs) == []
    assert [run.returncode for run in runs] == [0, 0], runs
    assert runs[0].stdout == runs[1].stdout
    for event, code in ((binding, "closed_without_charges"), (still_open, "param_wrong_value")):
        assert f"  {event['id']}: can never succeed: {code}\n" in runs[0].stdout
    assert "0 missing, 0 enqueued, 2 that can never succeed" in runs[0].stdout
    assert "are dead letters: repair the cause, then run `python -m app redrive`" in runs[0].stdout
    with SqsStandIn() as sqs, listing(_entries(retried)) as site:
        assert "1 missing, 1 enqueued" in _reconcile(stage, site, sqs, embedded.endpoint).stdout


def test_what_was_done_before_a_failure_is_shown(stage: Stage, embedded: Any) -> None:
    """If Chargebee's second page cannot be read, the command says what became of the first one, and exits with 2."""
    event = event_body()
    with SqsStandIn() as sqs, listing(_entries(*[event] * 100), "no list") as site:
        ended = _reconcile(stage, site, sqs, embedded.endpoint)
    assert ended.returncode == 2
    assert ended.stdout.splitlines()[0] == f"  {event['id']}"
    assert ended.stderr.splitlines()[-1].startswith("error: Chargebee's answer has unexpected content (chargebee_unr")
    assert "Traceback" not in ended.stderr


async def _compare(monkeypatch: pytest.MonkeyPatch, causes: list[str | None]) -> tuple[Summary, list[str]]:
    """Compares one event for each of `causes`; SQS refuses it with this code, or accepts it. Returns the attempts."""
    bodies = [event_body() for _ in causes]
    cause_of = {body["id"]: cause for body, cause in zip(bodies, causes, strict=True)}
    attempts: list[str] = []

    async def events() -> Any:
        yield bodies

    async def known_of(ids: Any) -> Any:
        return set(), {}

    async def send(message: Any) -> None:
        attempts.append(message.attributes["event_id"])
        if (cause := cause_of[attempts[-1]]) is not None:
            raise QueueUnavailable("SQS did not accept the message", cause)

    monkeypatch.setattr(module, "LONGEST_PAUSE_SECONDS", 0.0)
    wanted = frozenset({PENDING_INVOICE_CREATED})
    return await Comparison(send, wanted, fifo=False).run(events(), known_of, lambda _: None), attempts


@pytest.mark.anyio
async def test_an_outage_of_sqs_ends_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, each of a million events would wait for its retries, one after the other."""
    summary, attempts = await _compare(monkeypatch, ["EndpointConnectionError"] * (OUTAGE + 2))
    assert (len(summary.failed), len(attempts)) == (OUTAGE, OUTAGE * module.ATTEMPTS)
    assert isinstance(summary.error, QueueUnavailable)


@pytest.mark.anyio
async def test_events_that_sqs_refuses_are_no_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither many events that SQS refuses for their own sake end the command, nor failures with successes between."""
    causes = [REFUSED] * (OUTAGE + 2) + ["InternalFailure", "InternalFailure", None, "InternalFailure", None]
    summary, _ = await _compare(monkeypatch, causes)
    assert (summary.error, len(summary.failed), len(summary.missing)) == (None, OUTAGE + 5, 2)
