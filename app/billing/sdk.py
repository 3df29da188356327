"""Chargebee's own SDK, which blocks, with our URL and time-outs; and the failures of v01's blocking clients."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import chargebee

from app.errors import BillingUnavailable, Flaw, InvalidEvent, Unprocessable
from app.settings import Settings
from app.sqs.failures import code_of

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


@contextmanager
def failing(what: str) -> Iterator[None]:
    """Turns whatever a client raises into our error; what can never be billed, into the sender's."""
    try:
        yield
    except Unprocessable as error:
        if error.code != "invalid_period":  # an item of the table, which a person can correct
            raise BillingUnavailable("The billing work could not be done; send it again", error.code) from None
        flaw: Flaw = {"loc": ["content", "invoice"], "msg": error.detail, "type": error.code}
        raise InvalidEvent("The invoice cannot be billed", [flaw]) from None
    except Exception as error:
        # The SDK raises a bare Exception for an answer that is not JSON.
        cause = getattr(error, "api_error_code", None) or code_of(error)
        raise BillingUnavailable("The billing work could not be done; send it again", f"{what}: {cause}") from error
