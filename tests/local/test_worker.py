"""Tests that a local run's worker closes invoices, and ends with the service."""

import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from local.audit import audit, wait
from local.local_run import read_run
from local.sample_events import default_file
from local.seeding import pending
from tests.harness.commands import LocalRunProcess
from tests.harness.processes import alive
from tests.harness.service import Web


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Web]:
    """Starts `make run` on free ports."""
    with LocalRunProcess(tmp_path, local_worker=1) as web:
        yield web


@pytest.mark.slow
def test_a_webhook_closes_its_invoice(local: Web, tmp_path: Path) -> None:
    """The worker closes the invoice of a webhook that is posted as in README. Ctrl-C then ends all processes."""
    run, body = read_run(tmp_path), default_file().read_bytes()
    with local.client(auth=("demo", "demo")) as client:
        assert client.post("/webhooks/chargebee", content=body).status_code == 200
    events = list(pending([body]))
    assert wait(run.chargebee, events, 60, lambda more: None, lambda: local.process.poll() is None)
    assert audit(run.chargebee, events).problems == []
    assert remaining(local, signal.SIGINT) == []


@pytest.mark.slow
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_the_service(local: Web, sig: signal.Signals) -> None:
    """The worker, the stand-ins and the live page end with the service, also during the worker's long poll."""
    local.wait_for("Receiving from")
    assert remaining(local, sig) == []


def remaining(local: Web, sig: signal.Signals) -> list[psutil.Process]:
    """Sends `sig` to the local run, and returns those of its processes that still run after at most a minute."""
    processes = psutil.Process(local.process.pid).children(recursive=True)
    assert len(processes) == 5
    local.stop(sig)
    return alive(processes)
