"""Chargebee's own SDK, which blocks, with our URL and time-outs."""

from typing import Any
from urllib.parse import urlsplit

import chargebee

from app.settings import Settings

IDEMPOTENCY_KEY = chargebee.Chargebee.idempotency_header


def open_site(settings: Settings) -> "chargebee.Chargebee":
    """A client for the site of these settings; no call is made yet.

    APP_CHARGEBEE_TIMEOUT is halved: the SDK has one for connecting, and one for each read.
    """
    assert settings.chargebee_url is not None
    assert settings.chargebee_api_key is not None
    scheme = urlsplit(settings.chargebee_url).scheme
    seconds: Any = settings.chargebee_timeout / 2
    site = chargebee.Chargebee(
        settings.chargebee_api_key.get_secret_value(),
        site="",
        protocol=scheme,
        connection_time_out=seconds,
        read_time_out=seconds,
    )
    # The SDK derives it from the name of a site. And it takes http only where the class says so, not the object
    # (chargebee 3.29, http_request.py).
    site.env.api_endpoint = f"{settings.chargebee_url.rstrip('/')}/api/{site.env.API_VERSION}"
    chargebee.Chargebee.verify_ca_certs = scheme == "https"
    return site
