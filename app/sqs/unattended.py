"""Checks the AWS SDK's configuration for the service and the worker, where no person can type an MFA code."""

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import botocore.session
from loguru import logger

from app.errors import ConfigurationError
from app.settings.text import shown
from app.sqs.sdk_calls import client_without_keys

# The clients of SQS and DynamoDB have fixed numbers of attempts, because their time-outs follow from these numbers.
_FIXED = {"AWS_MAX_ATTEMPTS": "max_attempts", "AWS_RETRY_MODE": "retry_mode"}
_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d+")


def require_unattended() -> None:
    """Raises ConfigurationError if the configuration requires the code of an MFA device, or sets retries.

    Call `require_sdk` first, because it rejects configuration that the SDK cannot read.
    """
    session = botocore.session.Session()
    profile = session.get_scoped_config()
    for name, key in _FIXED.items():
        value = os.environ.get(name) or profile.get(key)
        if value and value != "standard":
            raise ConfigurationError(
                f"{name}={shown(value)} (or {key} in the profile): the retries are fixed, so unset it"
            )
    if not os.environ.get("AWS_ACCESS_KEY_ID") and _asks_for_code(profile, session.full_config["profiles"]):
        raise ConfigurationError("mfa_serial (in the profile): nobody can type a code, so use a profile without it")


def warn_of_another_queue(queue_url: str) -> None:
    """Logs a warning if `queue_url` names a region or an endpoint that the calls do not go to.

    The clients take only the queue's name and account from `queue_url`. They call GetQueueUrl in the SDK's region, at
    the SDK's endpoint, and use the URL in the answer.
    """
    host = urlsplit(queue_url).hostname or ""
    session = botocore.session.Session()
    region = str(session.get_config_variable("region"))
    if not host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".api.aws")):
        return
    named = next(filter(_REGION.fullmatch, host.split(".")), region)
    if named != region:
        logger.warning("APP_SQS_QUEUE_URL names {}, but the calls go to the SDK's region, {}", named, region)
    elif ".vpce." in host and host != urlsplit(client_without_keys(session).meta.endpoint_url).hostname:
        logger.warning("APP_SQS_QUEUE_URL names {}, but AWS_ENDPOINT_URL_SQS does not, so no call goes there", host)


def _asks_for_code(profile: Mapping[str, Any], profiles: Mapping[str, Mapping[str, Any]]) -> bool:
    """Returns True if `profile`, or a profile to which `source_profile` leads, needs the code of an MFA device."""
    seen: list[Mapping[str, Any]] = []
    while "role_arn" in profile and profile not in seen:
        if "mfa_serial" in profile:
            return True
        seen.append(profile)
        profile = profiles.get(str(profile.get("source_profile")), {})
    return False
