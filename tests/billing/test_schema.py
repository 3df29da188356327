"""`python -m app setup`, and the same table in CloudFormation."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml

from app.billing.schema import set_up, table
from app.errors import CommandFailed, ConfigurationError
from local.embedded_aws import EmbeddedAws
from tests.harness.service import clean_environment

TEMPLATE = Path(__file__).parents[2] / "deploy/aws/billing.yaml"


@pytest.fixture(autouse=True)
def emulator(embedded: EmbeddedAws, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, value in embedded.environment().items():
        monkeypatch.setenv(name, value)
    client = boto3.client("dynamodb")
    yield client
    client.close()


def _setup(embedded: EmbeddedAws, *options: str, **settings: object) -> "subprocess.CompletedProcess[str]":
    environment = clean_environment(**settings) | embedded.environment()
    command = [sys.executable, "-m", "app", "setup", *options]
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)


def test_setup_makes_the_table_once(embedded: EmbeddedAws, emulator: Any) -> None:
    """A second run changes nothing, and neither does a dry run."""
    dry = _setup(embedded, "--dry-run", billing_table="setup-test")
    assert dry.returncode == 0, dry.stderr
    assert "would be created" in dry.stdout
    assert "setup-test" not in emulator.list_tables()["TableNames"]
    first = _setup(embedded, billing_table="setup-test")
    assert "was created" in first.stdout
    again = _setup(embedded, billing_table="setup-test")
    assert again.stdout.splitlines() == [
        "The table setup-test exists",
        "The table has its time to live: DynamoDB deletes each item at the time in its attribute expires_at",
    ]
    ttl = emulator.describe_time_to_live(TableName="setup-test")["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at"}


def test_setup_without_a_table_says_what_is_missing(embedded: EmbeddedAws) -> None:
    """The command fails. The error is one line, and names the missing variable."""
    ended = _setup(embedded)
    assert ended.returncode != 0
    [line] = ended.stderr.splitlines()
    assert "APP_BILLING_TABLE is not set" in line


def test_a_table_with_other_keys_is_left_alone(emulator: Any) -> None:
    """A table with other keys belongs to someone else."""
    other: Any = table("other-keys") | {
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    }
    emulator.create_table(**other)
    with pytest.raises(ConfigurationError, match="other keys"):
        set_up("other-keys")


def test_setup_without_dynamodb_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's error becomes a CommandFailed."""
    monkeypatch.setitem(os.environ, "AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(CommandFailed, match="EndpointConnectionError"):
        set_up("unreachable")


class _Tags(yaml.SafeLoader):
    """CloudFormation's `!Ref` and the like, as their plain values."""


def _plain(loader: _Tags, suffix: str, node: Any) -> Any:
    return loader.construct_scalar(node)


_Tags.add_multi_constructor("!", _plain)


def test_cloudformation_makes_the_same_table() -> None:
    """The template's table is that of `setup`. Its queue allows the 1,000 receives that the worker needs."""
    resources = yaml.load(TEMPLATE.read_text(encoding="utf-8"), Loader=_Tags)["Resources"]  # noqa: S506  # a SafeLoader
    made = resources["Table"]["Properties"]
    ours = table("TableName")
    assert {name: made[name] for name in ours} == ours
    assert made["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert resources["Queue"]["Properties"]["RedrivePolicy"]["maxReceiveCount"] == 1000
