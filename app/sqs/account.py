"""The AWS SDK's own configuration, checked before the service starts."""

import botocore.session
from botocore.exceptions import BotoCoreError

from app.errors import ConfigurationError


def require_region() -> None:
    """Raises ConfigurationError where the SDK would not find a region, or the profile it is configured for."""
    # A session of its own: the SDK's default one stays cold until a release uses it.
    session = botocore.session.Session()
    try:
        region = session.get_config_variable("region")
    except BotoCoreError as error:
        raise ConfigurationError(f"AWS: {error}") from None
    if region is None:
        raise ConfigurationError("AWS_DEFAULT_REGION is not set: allowed is a region, as in eu-central-1")
