"""Tests that a local run's worker closes invoices, and ends with the service."""

import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.harness.commands import LocalRunProcess
from tests.harness.processes import alive
from tests.harness.service import Web


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Web]:
    """Starts `make run` on free ports."""
    with LocalRunProcess(tmp_path, local_worker=1) as web:
        yield web


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
