"""Chargebee's own SDK, which blocks, with our URL and time-outs; and the failures of v01's blocking clients."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import chargebee

from app.billing.access import BillingAccess
from app.errors import BillingUnavailable, Flaw, InvalidEvent, Unprocessable
from app.sqs.failures import code_of

IDEMPOTENCY_KEY = chargebee.Chargebee.idempotency_header


def open_site(access: BillingAccess) -> "chargebee.Chargebee":
    """Returns a client of the site, which makes no call yet.

    The call's time-out is halved, because the SDK has one time-out for connecting and another one for each read.
    """
    scheme = urlsplit(access.site_url).scheme
    seconds: Any = access.call_timeout / 2
    site = chargebee.Chargebee(
        access.api_key.get_secret_value(),
        site="",
        protocol=scheme,
        connection_time_out=seconds,
        read_time_out=seconds,
    )
    # The SDK derives it from the name of a site. And it takes http only where the class says so, not the object
    # (chargebee 3.29, http_request.py).
    site.env.api_endpoint = f"{access.site_url}/api/{site.env.API_VERSION}"
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
