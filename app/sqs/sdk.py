"""Checks the configuration of the AWS SDK at start-up, before the process opens any socket."""

import os
from pathlib import Path
from urllib.parse import quote, urlsplit

import botocore.session
from botocore.exceptions import BotoCoreError, InvalidRegionError
from botocore.utils import (
    is_valid_endpoint_url,
    is_valid_ipv6_endpoint_url,
    normalize_url_path,
    validate_region_name,
)

from app.errors import ConfigurationError
from app.settings.text import shown
from app.sqs.authorities import require_authorities
from app.sqs.sdk_calls import client_without_keys
from app.sqs.signing import is_sendable

_ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS", "AWS_ENDPOINT_URL_DYNAMODB")
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_SECRETS = (*_KEYS, "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN")
# Variables that `require_sdk` can check without a client, and variables for which every value is valid.
_PLAIN = {
    *_ENDPOINTS,
    *_KEYS,
    *("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_SESSION_TOKEN", "AWS_CA_BUNDLE", "AWS_PROFILE"),
    *("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_EC2_METADATA_DISABLED"),
    # EKS sets the following variables in a pod that has an IAM role.
    *("AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    *("AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
}
_URL = "allowed is a URL with http or https, such as http://127.0.0.1:4566, and a plain path"


def require_sdk() -> None:
    """Raises ConfigurationError if the configuration does not allow the AWS SDK to build a client or to connect.

    Checks profile, region, keys, CA bundle and endpoints. Does not require credentials, because the SDK may get them
    from a metadata service later.
    """
    # Uses a new session, so that the SDK's default session loads nothing before a release uses it.
    session = botocore.session.Session()
    try:
        session.get_scoped_config()  # raises an error if the profile is missing; the calls below do not always do so
        _require_region(session.get_config_variable("region"))
        _require_keys(session)
        _require_endpoints()
        require_authorities(session)
        if not _is_plain(session):
            _build_client(session)
    except (BotoCoreError, ValueError) as error:
        raise ConfigurationError(f"AWS: {_one_line(str(error))}") from None


def require_credentials() -> None:
    """Raises ConfigurationError if the AWS SDK finds no credentials now, or if their source fails.

    An aioboto3 client that is built without credentials never looks for them again. So the process must end, and
    its supervisor must start it again.
    """
    try:
        found = botocore.session.Session().get_credentials()
    except (BotoCoreError, ValueError, OSError) as error:
        raise ConfigurationError(f"AWS: {_one_line(str(error))}") from None
    if found is None:
        raise ConfigurationError(
            f"AWS: no credentials found: set {' and '.join(_KEYS)}, or a profile, or give this machine a role"
        )


def _require_region(region: str | None) -> None:
    if not region:
        raise ConfigurationError("AWS_DEFAULT_REGION is not set: allowed is a region, such as eu-central-1")
    try:
        validate_region_name(region)
        if not is_sendable(region):  # botocore accepts a line break at the end
            raise InvalidRegionError(region_name=region)
    except InvalidRegionError:
        raise ConfigurationError(
            f"AWS_DEFAULT_REGION={_one_line(region)} (or the profile's region):"
            " allowed is a region, such as eu-central-1"
        ) from None


def _require_keys(session: botocore.session.Session) -> None:
    missing = [name for name in _KEYS if not os.environ.get(name)]
    if len(missing) == 1:
        raise ConfigurationError(f"{missing[0]} is not set: set both {' and '.join(_KEYS)}, or neither")
    profile = session.get_scoped_config()
    for name in _SECRETS:
        for where, value in (
            (name, os.environ.get(name)),
            (f"{name.lower()} (in the profile)", profile.get(name.lower())),
        ):
            if value is not None and not is_sendable(str(value)):
                raise ConfigurationError(
                    f"{where}=(hidden): allowed are printable ASCII characters without white space"
                )


def _require_endpoints() -> None:
    for name in _ENDPOINTS:
        if (url := os.environ.get(name)) is not None and not _is_url(url):
            raise ConfigurationError(f"{name}={shown(url)}: {_URL}")


def _is_url(text: str) -> bool:
    """Returns True if `text` is an http or https URL without user, query, fragment or white space.

    The clients of the SDK disagree on how to interpret a user, a query, a fragment and white space. They also disagree
    on a path that Signature V4 normalizes or encodes, such as `/a//b` or `/a%20b`. Such a path is not allowed either.
    """
    try:
        parts = urlsplit(text)
        known = parts.scheme in {"http", "https"} and parts.port != 0
    except ValueError:  # the port is invalid
        return False
    plain = is_sendable(text) and not set(text) & set("?#") and "@" not in parts.netloc
    signed_as_it_is = parts.path in {"", quote(normalize_url_path(parts.path), safe="/~")}
    return known and plain and signed_as_it_is and (is_valid_endpoint_url(text) or is_valid_ipv6_endpoint_url(text))


def _is_plain(session: botocore.session.Session) -> bool:
    """Returns True if there is no AWS configuration file, and if _PLAIN contains all AWS_ variables of the environment.

    Otherwise, `require_sdk` must build a client, because only botocore can check the other settings. This takes time.
    """
    files = [os.path.expanduser(session.get_config_variable(name)) for name in ("config_file", "credentials_file")]  # noqa: PTH111  # as botocore, ignores an unknown user
    variables = {name for name in os.environ if name.startswith("AWS_")}
    if os.environ.get("AWS_STS_REGIONAL_ENDPOINTS") == "regional":  # EKS sets this value, which is valid
        variables.remove("AWS_STS_REGIONAL_ENDPOINTS")
    return variables <= _PLAIN and not any(Path(file).is_file() for file in files)


def _build_client(session: botocore.session.Session) -> None:
    """Builds a client and discards it. Raises BotoCoreError or ValueError if botocore rejects the configuration.

    Raises ConfigurationError if a file configures an endpoint that `_require_endpoints` would not accept.
    """
    if not _is_url(url := client_without_keys(session).meta.endpoint_url):
        raise ConfigurationError(f"endpoint_url={shown(url)} (in the profile): {_URL}")


def _one_line(text: str) -> str:
    return " ".join(text.split())
