"""Tests `invoices`, and what `send` and a local run prepare for the billing work."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from local.audit import audit
from local.cli import invoices
from local.local_run import LocalRun, read_run
from local.sample_events import default_file, sample_files
from local.seeding import charges, pending
from tests.deploy.rendering import ROOT
from tests.harness.commands import LocalRunProcess, run_local
from tests.harness.service import clean_environment


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalRun]:
    """A local run without a worker, on free ports."""
    with LocalRunProcess(tmp_path):
        yield read_run(tmp_path)


def post(run: LocalRun, path: str, **params: Any) -> None:
    answer = httpx.post(
        f"{run.chargebee}/api/v2/invoices/{path}", data=params, auth=(run.chargebee_api_key, ""), timeout=60
    )
    answer.raise_for_status()


def bill(run: LocalRun, event: dict[str, Any]) -> None:
    """Bills an invoice as a worker does."""
    invoice_id = event["content"]["invoice"]["id"]
    for one in charges(event):
        post(run, f"{invoice_id}/add_charge", amount=one.amount, description=f"{one.description} [billable:{one.id}@1]")
    post(run, f"{invoice_id}/close")


@pytest.mark.parametrize(
    ("currency", "shown"), [("EUR", "1,234.56 EUR"), ("ISK", "123,456 ISK"), ("KWD", "123.456 KWD"), (None, "1,234.56")]
)
def test_minor_units(currency: str | None, shown: str) -> None:
    """The total has as many decimals as the currency."""
    invoice = {"id": "i", "customer_id": "c", "stage": "pending", "charges": 0, "total": 123456, "closed_at": None}
    assert invoices._row(invoice | {"currency_code": currency})[4] == shown


def test_a_narrow_terminal() -> None:
    """The table fits into 80 columns. A wider terminal shows Chargebee's status, the time and whole names, too."""
    closed = {"stage": "closed", "status": "payment_due", "charges": 2, "total": 123456789, "closed_at": 1_800_000_000}
    being_charged = {**closed, "stage": "charging", "status": "pending", "closed_at": None}
    names = {"id": "draft_inv_rfkS2k9FFdvs35pN", "currency_code": "EUR"}
    found = [closed | names | {"customer_id": "c" * 50}, being_charged | names | {"customer_id": "short"}]
    wide, narrow = (invoices._table(found, 40, columns) for columns in (140, 80))
    assert "c" * 50 + "  closed (payment_due)" in wide
    assert max(map(len, narrow.splitlines())) == 80
    assert "ccc…  closed " in narrow
    assert "short " in narrow
    assert "closed at" not in narrow


@pytest.mark.slow
def test_invoices(local: LocalRun, tmp_path: Path) -> None:
    """The list has each invoice that `send` has registered, with its state."""
    assert "0 invoices\n" in run_local("invoices", run_dir=tmp_path).stdout
    assert run_local("send", run_dir=tmp_path).returncode == 0
    events = list(pending(file.read_bytes() for file in sample_files()))
    bill(local, events[7])
    shown = run_local("invoices", run_dir=tmp_path).stdout
    assert shown.endswith("10 invoices: 9 pending, 1 closed\n")
    [line] = [line for line in shown.splitlines() if "closed (" in line]
    names = [events[7]["content"]["invoice"]["id"], "minatokaze_keisoku-0007"]
    assert line.split()[:5] == [*names, "closed", "(payment_due)", "1"]
    assert "JPY" in line
    left_out, _, _, last, _ = run_local("invoices", "--limit", "2", run_dir=tmp_path).stdout.splitlines()
    assert (left_out, last.split()[0]) == ("… and 8 more (--limit)", names[0])
    assert audit(local.chargebee, [events[7]]).problems == []


@pytest.mark.slow
def test_the_page_has_the_words_of_the_list(local: LocalRun, tmp_path: Path) -> None:
    """An invoice is pending, being charged, then closed: in the command, in its help and in docs/local.md."""
    page = " ".join((ROOT / "docs" / "local.md").read_text(encoding="utf-8").split())
    for words in ("`pending`, `being charged`, and then `closed`", "`payment_due`"):
        assert words in page
    assert "pending, being charged or closed" in " ".join(run_local("invoices", "--help").stdout.split())
    assert run_local("send", str(default_file()), run_dir=tmp_path).returncode == 0
    assert "  pending  " in run_local("invoices", run_dir=tmp_path).stdout
    [event] = pending([default_file().read_bytes()])
    invoice_id = event["content"]["invoice"]["id"]
    post(local, f"{invoice_id}/add_charge", amount=1, description="x")
    assert "  being charged  " in run_local("invoices", run_dir=tmp_path).stdout
    post(local, f"{invoice_id}/close")
    assert "  closed (payment_due)  " in run_local("invoices", run_dir=tmp_path).stdout


@pytest.mark.slow
def test_watching(local: LocalRun, tmp_path: Path) -> None:
    """`--watch` prints a table after each change, until Ctrl-C, which ends it without a message."""
    assert run_local("send", run_dir=tmp_path).returncode == 0
    command = [sys.executable, "-u", "-m", "local", "invoices", "--watch"]
    with subprocess.Popen(
        command,
        env=clean_environment(local_run_dir=tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as watching:
        assert watching.stdout is not None
        assert "10 invoices: 10 pending\n" in iter(watching.stdout.readline, "")
        bill(local, list(pending(file.read_bytes() for file in sample_files()))[1])
        assert "10 invoices: 9 pending, 1 closed\n" in iter(watching.stdout.readline, "")
        watching.send_signal(signal.SIGINT)
        assert watching.communicate(timeout=60)[1] == ""
    assert watching.returncode == 0


def test_without_a_local_run(tmp_path: Path) -> None:
    """The error is one line that says what to do."""
    ended = run_local("invoices", run_dir=tmp_path)
    assert ended.returncode == 2
    assert "does not exist; start one with `make run`" in ended.stderr


@pytest.mark.parametrize(
    "setting", ["chargebee_url", "chargebee_api_key", "billing_table", "dead_letter_queue_url", "sqs_queue_url"]
)
def test_a_local_run_uses_nothing_real(setting: str, tmp_path: Path) -> None:
    """A local run does not start if a real resource is configured, and shows no key."""
    urls = {"chargebee_url": "https://acme.chargebee.com"}
    value = urls.get(setting, "https://acme.example.com/queue" if setting.endswith("url") else "live_s3cret")
    settings: dict[str, Any] = {"port": 0, setting: value}
    ended = run_local("run", run_dir=tmp_path, **settings)
    assert ended.returncode == 2
    assert f"APP_{setting.upper()} is set, but a local run needs its own value: unset the variable" in ended.stderr
    assert "s3cret" not in ended.stderr


def test_what_a_process_of_a_local_run_gets() -> None:
    """The variables are a deployment's, and none is from a real account."""
    aws = "http://127.0.0.1:4566"
    local = LocalRun(1, aws, f"{aws}/0/q", f"{aws}/0/dead", "http://127.0.0.1:8002", "test_standin", "billing")
    base = {"PATH": "/bin", "AWS_PROFILE": "production", "APP_LOCAL_TLS": "1", "APP_CHARGEBEE_RATE": "1000"}
    made = local.environment(base)
    ours = {name: value for name, value in made.items() if name.startswith("APP_")}
    assert ours == {
        "APP_SQS_QUEUE_URL": local.queue_url,
        "APP_DEAD_LETTER_QUEUE_URL": local.dead_letter_queue_url,
        "APP_BILLING_TABLE": local.table,
        "APP_CHARGEBEE_URL": local.chargebee,
        "APP_CHARGEBEE_API_KEY": local.chargebee_api_key,
        "APP_CHARGEBEE_RATE": "1000",
    }
    assert "AWS_PROFILE" not in made
    assert (made["AWS_ENDPOINT_URL"], made["PATH"]) == (local.endpoint, "/bin")
