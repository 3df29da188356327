"""The commands `release` and `unbilled`, beside a whole worker."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import pytest

from local.embedded_aws import EmbeddedAws
from tests.billing.stage import START, Stage, some
from tests.worker.beside import Whole, killed, prepared, whole_worker


@pytest.fixture
def whole(stage: Stage, embedded: EmbeddedAws) -> Iterator[Whole]:
    with whole_worker(embedded, stage) as started:
        yield started


def test_the_usage_of_a_void_invoice_is_released_once(whole: Whole, stage: Stage) -> None:
    """A dry run and a second run change nothing. Another invoice then charges the usage as it is now."""
    subscription = f"sub_{uuid4().hex}"
    old = prepared(stage, some(3, subscription_id=subscription), subscription_id=subscription)
    invoice_id = old["content"]["invoice"]["id"]
    assert whole.process(old) == [("closed", None)]
    refused = whole.run("release", "--invoice", invoice_id)
    assert refused.returncode == 1
    assert f"The invoice {invoice_id} is neither void nor gone" in refused.stderr

    stage.correct(f"invoices/{invoice_id}/void")
    for options, said in ((("--dry-run",), "would be released"), ((), "were released"), ((), "nothing to release")):
        done = whole.run("release", "--invoice", invoice_id, *options)
        assert (done.returncode, said in done.stdout) == (0, True), done
    assert {one.invoice_id for one in stage.billables(old["content"]["invoice"]["customer_id"])} == {None}
    corrected = replace(some(1, subscription_id=subscription)[0], amount=7)
    customer = old["content"]["invoice"]["customer_id"]
    new = prepared(stage, [corrected], customer_id=customer, subscription_id=subscription)
    assert whole.process(new) == [("closed", None)]
    assert whole.charges(new) == [7, 101, 102]


def test_a_draft_that_was_deleted_lets_go_of_its_usage(whole: Whole, stage: Stage) -> None:
    """After a kill, a charge may be on an invoice that was not found. A person knows that the draft was deleted."""
    body = prepared(stage)
    invoice = body["content"]["invoice"]
    killed(stage, body, 8)
    stage.correct(f"invoices/{invoice['id']}/delete")
    assert whole.process(body) == [("dead_letter", "invoice_not_found")]
    assert {one.invoice_id for one in stage.billables(invoice["customer_id"])} == {invoice["id"]}
    stage.end_leases(body)
    done = whole.run("release", "--invoice", invoice["id"])
    assert (done.returncode, "3 usage items" in done.stdout) == (0, True), done
    assert {one.invoice_id for one in stage.billables(invoice["customer_id"])} == {None}


def test_a_verdict_is_released_with_its_invoice(whole: Whole, stage: Stage) -> None:
    """A person voids the invoice that was closed without some charges. Then the event can be judged again."""
    body = prepared(stage)
    invoice = body["content"]["invoice"]
    killed(stage, body, 8)
    stage.close(invoice["id"])
    assert whole.process(body, body) == [("dead_letter", "closed_without_charges")] * 2
    stage.correct(f"invoices/{invoice['id']}/void")
    stage.end_leases(body)
    done = whole.run("release", "--invoice", invoice["id"])
    assert "1 usage items and 1 verdicts were released" in done.stdout
    assert whole.process(body) == [("dead_letter", "invoice_voided")]


def test_a_verdict_on_an_invoice_that_stays_closed_is_kept(whole: Whole, stage: Stage) -> None:
    """A person closes the invoice before its first charge, so it has no usage. The command asks for it all the same."""
    body = prepared(stage)
    invoice = body["content"]["invoice"]
    stage.close(invoice["id"])
    assert whole.process(body) == [("dead_letter", "closed_without_charges")]
    refused = whole.run("release", "--invoice", invoice["id"])
    assert (refused.returncode, "is neither void nor gone" in refused.stderr) == (1, True), refused
    assert whole.process(body) == [("dead_letter", "closed_without_charges")]


def test_nothing_is_released_while_a_worker_has_the_invoice(whole: Whole, stage: Stage) -> None:
    """The command says who works on the invoice, and changes nothing."""
    body = prepared(stage)
    invoice = body["content"]["invoice"]
    killed(stage, body, 8)
    stage.set({"pk": {"S": f"invoice#{invoice['id']}"}, "sk": {"S": "order"}}, "lease_until", {"N": str(9 * 10**12)})
    stage.correct(f"invoices/{invoice['id']}/delete")
    done = whole.run("release", "--invoice", invoice["id"])
    assert (done.returncode, "works on the invoice" in done.stderr) == (1, True), done
    assert {one.invoice_id for one in stage.billables(invoice["customer_id"])} == {invoice["id"]}


def test_usage_that_nobody_charges_is_shown(whole: Whole, stage: Stage) -> None:
    """The command shows late usage, what was set aside and what waits for another currency, by customer and sum."""
    odd = replace(some(3)[2], amount=-50)
    body = prepared(stage, [*some(2), odd, *some(1, START + 90, currency="SEK")])
    customer = body["content"]["invoice"]["customer_id"]
    assert whole.process(body) == [("closed_in_part", None)]
    stage.put(customer, [*some(1, START + 50), replace(some(1)[0], amount=5)])
    shown = whole.run("unbilled", "--older-than", "0s")
    assert shown.returncode == 0, shown
    rows = [line.split() for line in shown.stdout.splitlines() if line.startswith(customer)]
    assert [row[1:4] for row in rows] == [["-", "2", "100"], ["SEK", "1", "100"]]
    assert {"invalid_amount", "never_reserved"} < set(rows[0][5:])
    assert f"changed too late: {customer} b0@{START} is on" in shown.stdout
    assert "3 not billed, 1 changed too late" in shown.stdout
    assert ": 0 not billed" in whole.run("unbilled", "--older-than", "9999d").stdout


def test_usage_of_the_coming_term_is_shown(whole: Whole, stage: Stage) -> None:
    """Usage may have a time in the future. With `--older-than 0s`, the command shows it, otherwise it waits."""
    customer = f"customer_{uuid4().hex}"
    stage.put(customer, some(1, 9_999_999_999))
    assert f"{customer} " in whole.run("unbilled", "--older-than", "0s").stdout
    assert customer not in whole.run("unbilled", "--older-than", "1s").stdout


def test_an_invoice_of_which_nothing_is_known(whole: Whole) -> None:
    """The command says so, and ends with 0, because a second run of a release finds nothing as well."""
    done = whole.run("release", "--invoice", "inv_unknown")
    assert (done.returncode, "nothing to release" in done.stdout) == (0, True)
    assert whole.run("release").returncode == 2
