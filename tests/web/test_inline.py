"""v01's contract about DynamoDB and Chargebee. It replaces the part of the contract that is about SQS."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.errors import ConfigurationError
from app.settings import Release, WebSettings, WorkerSettings
from app.web.main import create_app
from loadtest.stage.queues import Embedded
from local.sample_events import SAMPLES, fresh_events
from local.seeding import charges as billables
from local.seeding import seed
from tests.harness.inline import Inline, InlineService, charged, expected, open_inline
from tests.harness.ports import refusing
from tests.harness.service import NO_CAS, Service
from tests.web.test_contract import assert_problem

PENDING = sorted(SAMPLES.glob("pending_*.json"))
FAST, STRICT = 1_000_000, 1


@pytest.fixture(scope="module")
def aws() -> Iterator[Embedded]:
    """Yields a separate DynamoDB, which a test may kill and start again."""
    process = Embedded()
    process.start()
    yield process
    process.kill()


@pytest.fixture(scope="module")
def inline(aws: Embedded) -> Iterator[Inline]:
    with open_inline(aws.endpoint) as inline:
        yield inline


@pytest.fixture(scope="module")
def service(inline: Inline) -> Iterator[InlineService]:
    with InlineService(inline, body_timeout=60, max_wait=0) as service:
        yield service


@pytest.fixture
def body(event: bytes) -> bytes:
    """Returns a new webhook for each test."""
    return next(fresh_events(event, 1))


@pytest.mark.parametrize("file", PENDING, ids=lambda file: file.stem)
def test_200_after_the_invoice_is_closed(service: InlineService, file: Path) -> None:
    """The invoice has each charge of its period once, even if a line item outside of the webhook extends the period.

    An invoice that renews no subscription stays pending.
    """
    body = file.read_bytes()
    response = service.post(body)
    assert (response.status_code, response.json()) == (200, {"status": "processed", "event_id": json.loads(body)["id"]})
    invoice = service.inline.invoice(body)
    assert (invoice["status"] == "pending") == (expected(body) == [])
    assert sorted(charged(invoice)) == sorted(expected(body))


@pytest.mark.parametrize("renumber", [True, False])
def test_a_repeated_webhook_charges_nothing_twice(service: InlineService, body: bytes, renumber: bool) -> None:
    """Each further delivery gets 200 without new charges, even if Chargebee has forgotten keys and the draft's id."""
    service.inline.behave(idempotency_seconds=0.001, renumber=renumber)
    assert [service.post(body).status_code for _ in range(3)] == [200] * 3
    service.inline.behave(idempotency_seconds=1800, renumber=True)
    invoice = service.inline.invoice(body)
    assert sorted(charged(invoice)) == sorted(expected(body))
    assert len(invoice["closes"]) == 1


def test_a_plan_with_brackets(service: InlineService, body: bytes) -> None:
    """A plan name with brackets does not change the charges."""
    event = json.loads(body)
    for line in event["content"]["invoice"]["line_items"]:
        line["description"] += " [EUR]"
    named = json.dumps(event).encode()
    assert service.post(named).status_code == 200
    assert sorted(charged(service.inline.invoice(named))) == sorted(expected(body))


def test_an_invoice_that_renews_nothing(service: InlineService, body: bytes) -> None:
    """An invoice whose lines have no period is neither charged nor closed. The log has the reason."""
    event = json.loads(body)
    for line in event["content"]["invoice"]["line_items"]:
        line["date_to"] = line["date_from"]
    left = json.dumps(event).encode()
    assert service.post(left).json()["status"] == "processed"
    service.wait_for(f"Invoice {event['content']['invoice']['id']} is left pending: no_term_line")
    invoice = service.inline.invoice(left)
    assert (invoice["status"], invoice["charges"]) == ("pending", [])


@pytest.mark.parametrize("change", [{"id": {"S": "a b"}}, {"amount": {"N": "-5"}}, {"amount": {"N": "12.5"}}])
def test_an_item_that_cannot_be_charged(service: InlineService, body: bytes, change: dict[str, Any]) -> None:
    """The item is left out and named in the log. All other usage is charged, and the invoice is closed."""
    seed(service.inline.run, [body])
    [item, *_] = [one.item() for one in billables(json.loads(body))]
    odd = item | {"sk": {"S": f"{item['sk']['S'].rpartition('#')[0]}#a b"}} | change
    service.inline.put(odd)
    assert service.post(body).status_code == 200
    service.wait_for(f"is closed without this usage: ['{odd['sk']['S'].partition('#')[2]}']")
    invoice = service.inline.invoice(body)
    assert sorted(charged(invoice)) == sorted(expected(body))
    assert invoice["status"] != "pending"


def test_a_person_has_closed_the_invoice(service: InlineService, body: bytes) -> None:
    """Each delivery gets 503, and nothing is charged. After a redelivery, the log names the usage."""
    seed(service.inline.run, [body])
    event = json.loads(body)
    invoice_id = event["content"]["invoice"]["id"]
    run = service.inline.run
    closing = f"{run.chargebee}/api/v2/invoices/{invoice_id}/close"
    httpx.post(closing, auth=(run.chargebee_api_key, ""), verify=NO_CAS, timeout=60).raise_for_status()
    assert_problem(service.post(body), 503)
    assert service.log(event_id=event["id"])["cause"] == "invoice_not_found"
    repeated = json.dumps(event | {"webhooks": []}).encode()
    assert_problem(service.post(repeated), 503)
    line = service.wait_for(f"Invoice {invoice_id} may have charges already: ")
    assert all(f"{one.id}@{one.occurred_at}" in line for one in billables(event))
    assert service.inline.invoice(body)["charges"] == []


@pytest.mark.slow
def test_work_that_was_interrupted_goes_on(service: InlineService, event: bytes) -> None:
    """Chargebee fails 40 % of the calls. After some 503s, each webhook gets 200, and each charge exists once.

    Charges are not repeated, because Chargebee still has the idempotency keys when the webhooks are redelivered.
    """
    bodies = list(fresh_events(event, 10))
    service.inline.behave(errors=0.4, seed=7)
    seen = []
    for body in bodies:
        statuses = [service.post(body).status_code]
        while statuses[-1] != 200:
            statuses.append(service.post(body).status_code)
        seen += statuses
    service.inline.behave(errors=0)
    assert set(seen) == {200, 503}
    for body in bodies:
        invoice = service.inline.invoice(body)
        assert sorted(charged(invoice)) == sorted(expected(body))
        assert len(invoice["closes"]) == 1


def test_chargebee_s_limit_reaches_the_webhook(service: InlineService, event: bytes) -> None:
    """Chargebee's 429 becomes a 503 at once. No retry sleeps on the event loop."""
    body = next(fresh_events(event, 1))
    service.inline.behave(rate=STRICT)
    began = time.monotonic()
    try:
        response = service.post(body)
    finally:
        service.inline.behave(rate=FAST)
    assert_problem(response, 503)
    assert int(response.headers["retry-after"]) >= 1
    assert time.monotonic() - began < 20  # Chargebee's Retry-After is up to a minute
    assert service.log(event_id=json.loads(body)["id"])["cause"] == "api_request_limit_exceeded"
    assert service.post(body).status_code == 200


@contextmanager
def _silent() -> Iterator[str]:
    """Yields the URL of a port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def _closed() -> Iterator[str]:
    """Yields the URL of a port that has no listener."""
    with refusing() as port:
        yield f"http://127.0.0.1:{port}"


@pytest.mark.slow
@pytest.mark.parametrize(("chargebee", "cause"), [(_silent, "ReadTimeout"), (_closed, "ConnectionError")])
def test_chargebee_cannot_be_reached(inline: Inline, body: bytes, chargebee: Callable[[], Any], cause: str) -> None:
    """The webhook gets 503 with Retry-After, the log has the cause, and the invoice stays pending."""
    with chargebee() as url, InlineService(inline, chargebee_url=url, chargebee_timeout=3) as service:
        response = service.post(body)
        assert_problem(response, 503)
        assert int(response.headers["retry-after"]) >= 1
        assert service.log(outcome="billing-unavailable")["cause"] == cause
    assert inline.invoice(body)["status"] == "pending"


@pytest.mark.slow
def test_a_wrong_key(inline: Inline, body: bytes) -> None:
    """A wrong key is not the sender's fault: 503, so that Chargebee keeps the webhook. The log has the cause."""
    with InlineService(inline, chargebee_api_key="wrong") as service:
        assert_problem(service.post(body), 503)
        assert service.log(outcome="billing-unavailable")["cause"] == "chargebee_unauthorized"


@pytest.mark.slow
def test_a_table_that_does_not_exist(inline: Inline, body: bytes) -> None:
    """If the table is missing, the webhook gets 503, the invoice stays pending, and the log has the reason."""
    with InlineService(inline, billing_table="not-there") as service:
        assert_problem(service.post(body), 503)
        assert service.log(outcome="billing-unavailable")["cause"] == "ResourceNotFoundException"
    assert inline.invoice(body)["status"] == "pending"


@pytest.mark.slow
def test_dynamodb_ends(event: bytes) -> None:
    """While DynamoDB is down, the webhook gets 503, and the invoice is not closed."""
    process = Embedded()
    process.start()
    body = next(fresh_events(event, 1))
    with open_inline(process.endpoint) as inline, InlineService(inline) as service:
        seed(inline.run, [body])
        process.kill()
        response = Service.post(service, body)  # without seeding
        assert_problem(response, 503)
        assert service.log(outcome="billing-unavailable")["cause"] == "EndpointConnectionError"
        assert inline.invoice(body)["status"] == "pending"


@pytest.mark.slow
def test_the_clients_log_nothing(inline: Inline, body: bytes) -> None:
    """Even at DEBUG, the clients log no payloads and no responses."""
    with InlineService(inline, log_level="DEBUG") as service:
        assert service.post(body).status_code == 200
        service.log(outcome="processed")
        said = "\n".join(line["message"] for line in service.lines)
    assert "webhook processed" in said
    assert not any(word in said for word in ("/add_charge", "Content-Length", *expected(body)))


def test_it_needs_no_queue(inline: Inline) -> None:
    """v01 requires the table, Chargebee's URL and a key, but no queue. The error names the missing variables."""
    with pytest.raises(ConfigurationError) as raised:
        WorkerSettings().require_billing()
    named = [line.partition(" ")[0] for line in str(raised.value).splitlines()]
    assert named == ["APP_BILLING_TABLE", "APP_CHARGEBEE_URL", "APP_CHARGEBEE_API_KEY"]
    with Service(inline.run.endpoint, None, **inline.settings()) as service:
        assert not any("SQS" in str(line) for line in service.lines)


@pytest.mark.parametrize("release", list(Release), ids=str)
def test_the_document_says_which_status(release: Release) -> None:
    """v01 answers `processed`, and no other release does."""
    document = create_app(WebSettings.model_validate({"release": release})).openapi()
    answer = document["paths"]["/webhooks/chargebee"]["post"]["responses"]["200"]["content"]["application/json"]
    schema = document["components"]["schemas"][answer["schema"]["$ref"].rpartition("/")[2]]
    assert schema["properties"]["status"]["enum"] == [release.accepted, "ignored"]
