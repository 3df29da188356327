"""Checks the configuration of the AWS SDK before the process listens or calls anything."""

import os
import ssl
from pathlib import Path
from urllib.parse import urlsplit

import botocore.session
from botocore.exceptions import BotoCoreError, InvalidRegionError
from botocore.utils import is_valid_endpoint_url, is_valid_ipv6_endpoint_url, validate_region_name

from app.errors import ConfigurationError
from app.settings.text import shown

_ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS", "AWS_ENDPOINT_URL_DYNAMODB")
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
# Variables that this module checks, or that botocore accepts with any value.
_PLAIN = {
    *_ENDPOINTS,
    *_KEYS,
    *("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_SESSION_TOKEN", "AWS_CA_BUNDLE", "AWS_PROFILE"),
    *("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_EC2_METADATA_DISABLED"),
    # EKS sets these in a pod with a role.
    *("AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    *("AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
}


def require_sdk() -> None:
    """Raises ConfigurationError if a client of the AWS SDK could not be built, or could never connect.

    Checks profile, region, keys, CA bundle and endpoints. Credentials may come later, from a metadata service.
    """
    # A separate session, so that the SDK's default session loads nothing before a release uses it.
    session = botocore.session.Session()
    try:
        session.get_scoped_config()  # reads the profile, even if a variable names the region
        region, bundle = (session.get_config_variable(name) for name in ("region", "ca_bundle"))
        _require_region(region)
        _require_keys()
        _require_endpoints()
        if bundle is not None:
            _require_certificates(bundle)
        if not _is_plain(session):
            _build_client(session)
    except (BotoCoreError, ValueError) as error:
        raise ConfigurationError(f"AWS: {_one_line(str(error))}") from None


def _require_region(region: str | None) -> None:
    if not region:
        raise ConfigurationError("AWS_DEFAULT_REGION is not set: allowed is a region, as in eu-central-1")
    try:
        validate_region_name(region)
    except InvalidRegionError:
        raise ConfigurationError(
            f"AWS_DEFAULT_REGION={_one_line(region)} (or the profile's region): allowed is a region, as in eu-central-1"
        ) from None


def _require_keys() -> None:
    missing = [name for name in _KEYS if not os.environ.get(name)]
    if len(missing) == 1:
        raise ConfigurationError(f"{missing[0]} is not set: allowed are both of {' and '.join(_KEYS)}, or neither")


def _require_endpoints() -> None:
    for name in _ENDPOINTS:
        if (url := os.environ.get(name)) and not _is_url(url):
            raise ConfigurationError(
                f"{name}={_one_line(shown(url))}: allowed is a URL with http or https, as in http://127.0.0.1:4566"
            )


def _is_url(text: str) -> bool:
    """Returns whether `text` is a URL with http or https, and without user, query, fragment and white space.

    The SDK's clients treat the excluded parts differently.
    """
    try:
        parts = urlsplit(text)
        known = parts.scheme in {"http", "https"} and parts.port != 0
    except ValueError:  # from an invalid port
        return False
    plain = text.isprintable() and not set(text) & set(" ?#") and "@" not in parts.netloc
    return known and plain and (is_valid_endpoint_url(text) or is_valid_ipv6_endpoint_url(text))


def _require_certificates(bundle: str) -> None:
    try:
        ssl.create_default_context(cafile=bundle)
    except ssl.SSLError:
        reason = "it has none"
    except OSError as error:
        reason = str(error.strerror)
    else:
        return
    raise ConfigurationError(f"AWS_CA_BUNDLE={bundle}: allowed is a file with certificates ({reason})")


def _is_plain(session: botocore.session.Session) -> bool:
    """Returns whether the configuration has only parts that this module has checked or botocore always accepts.

    Then no client needs to be built for the check, which is the usual case.
    """
    files = [os.path.expanduser(session.get_config_variable(name)) for name in ("config_file", "credentials_file")]  # noqa: PTH111  # as botocore does: no error for an unknown user
    variables = {name for name in os.environ if name.startswith("AWS_")}
    if os.environ.get("AWS_STS_REGIONAL_ENDPOINTS") == "regional":  # EKS sets this value
        variables.remove("AWS_STS_REGIONAL_ENDPOINTS")
    return variables <= _PLAIN and not any(Path(file).is_file() for file in files)


def _build_client(session: botocore.session.Session) -> None:
    """Builds a client and discards it. Raises botocore's error about the configuration, BotoCoreError or ValueError.

    The sources of credentials are configured but not queried, because a metadata service may be slow.
    """
    session.get_component("credential_provider")
    session.create_client("sqs", aws_access_key_id="unused", aws_secret_access_key="unused")  # noqa: S106  # no secret


def _one_line(text: str) -> str:
    return " ".join(text.split())
