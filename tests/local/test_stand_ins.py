"""Tests how the configured stand-ins are found."""

import pytest

from app.errors import ConfigurationError
from app.settings import WorkerSettings
from local.stand_ins import StandIns, configured_stand_ins

_ENDPOINT = "http://dynamodb:4566"


def _settings(url: str = "http://chargebee:8002/") -> WorkerSettings:
    return WorkerSettings.model_validate({"billing_table": "billing", "chargebee_url": url, "chargebee_api_key": "key"})


@pytest.fixture(autouse=True)
def _region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB"])
def test_configured(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """The stand-ins are found by the settings, and by either of the SDK's variables."""
    monkeypatch.setenv(variable, _ENDPOINT)
    assert configured_stand_ins(_settings()) == StandIns("http://chargebee:8002", _ENDPOINT, "billing")


def test_an_endpoint_without_a_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore raises a ValueError for it."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "dynamodb:4566")
    with pytest.raises(ConfigurationError, match="AWS: Invalid endpoint: dynamodb:4566"):
        configured_stand_ins(_settings())


def test_nothing_is_invented_at_aws() -> None:
    """`configured_stand_ins` rejects a missing endpoint, because the SDK would use the real DynamoDB."""
    with pytest.raises(ConfigurationError, match="AWS_ENDPOINT_URL is not set"):
        configured_stand_ins(_settings())


def test_no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK builds no client without a region."""
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(ConfigurationError, match="AWS: You must specify a region"):
        configured_stand_ins(_settings())


def test_nothing_is_invented_at_chargebee(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chargebee's own hosts are rejected."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", _ENDPOINT)
    with pytest.raises(ConfigurationError, match="stand-in for Chargebee"):
        configured_stand_ins(_settings("https://example.chargebee.com"))
