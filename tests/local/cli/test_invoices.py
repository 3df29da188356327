"""Tests `invoices`, and what `send` and a local run prepare for the billing work."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.local_run import LocalRun, read_run
from tests.harness.commands import LocalRunProcess, run_local


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalRun]:
    """A local run without a worker, on free ports."""
    with LocalRunProcess(tmp_path):
        yield read_run(tmp_path)


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
