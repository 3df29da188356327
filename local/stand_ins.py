"""Finds the stand-ins for Chargebee and DynamoDB that a deployment on a laptop (kind, compose) uses."""

from typing import NamedTuple
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from app.errors import ConfigurationError
from app.settings import WorkerSettings


class StandIns(NamedTuple):
    """The URLs of the stand-ins for Chargebee (`chargebee`) and DynamoDB (`endpoint`), and the name of the `table`."""

    chargebee: str
    endpoint: str
    table: str
    ca_bundle: str | None = None


def configured_stand_ins(settings: WorkerSettings) -> StandIns:
    """Returns the stand-ins that APP_CHARGEBEE_URL, APP_BILLING_TABLE and AWS_ENDPOINT_URL name.

    Raises ConfigurationError if a variable is not set, or if it names the real Chargebee or the real DynamoDB, because
    invented data must not reach the real services.
    """
    settings.require_billing()
    assert settings.chargebee_url is not None
    assert settings.billing_table is not None
    endpoint, real = (_endpoint(ignore_configured_endpoint_urls=ignored) for ignored in (False, True))
    if endpoint == real:
        raise ConfigurationError("AWS_ENDPOINT_URL is not set: allowed is the URL of a stand-in for DynamoDB")
    if (urlsplit(settings.chargebee_url).hostname or "").endswith(".chargebee.com"):
        raise ConfigurationError(
            f"APP_CHARGEBEE_URL={settings.chargebee_url}: allowed is the URL of a stand-in for Chargebee"
        )
    return StandIns(settings.chargebee_url.rstrip("/"), endpoint, settings.billing_table)


def _endpoint(**options: bool) -> str:
    config = Config(**options)  # type: ignore[arg-type]  # botocore's stubs lack this option
    try:
        return boto3.Session().client("dynamodb", config=config).meta.endpoint_url
    except (BotoCoreError, ValueError) as error:  # ValueError if AWS_ENDPOINT_URL is not a URL
        raise ConfigurationError(f"AWS: {error}") from None
