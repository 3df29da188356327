"""Builds a client of Chargebee's blocking SDK, and translates the errors of v01's blocking clients."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import chargebee

from app.billing.access import BillingAccess
from app.errors import BillingUnavailable, FieldError, InvalidEvent, Unprocessable
from app.sqs.failures import code_of

IDEMPOTENCY_KEY = chargebee.Chargebee.idempotency_header


def open_site(access: BillingAccess) -> "chargebee.Chargebee":
    """Returns the SDK's client for the site. The client makes no call yet.

    Each time-out is half of APP_CHARGEBEE_TIMEOUT, because the SDK has one time-out for connecting and another one for
    each read.
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
    # The SDK derives the endpoint from the name of a site, and has no option for a whole URL. The SDK reads
    # `verify_ca_certs` from the class. While this value is true, the SDK replaces http by https (chargebee 3.29,
    # http_request.py).
    site.env.api_endpoint = f"{access.site_url}/api/{site.env.API_VERSION}"
    chargebee.Chargebee.verify_ca_certs = scheme == "https"
    return site


@contextmanager
def failing(what: str) -> Iterator[None]:
    """Translates any exception in a `with` block to BillingUnavailable.

    If the invoice can never be billed, translates the exception to InvalidEvent instead.
    `what`: the name of the called service, for the log.
    """
    try:
        yield
    except Unprocessable as error:
        if error.code != "invalid_period":  # the item in the table is wrong, and a person can correct it
            raise BillingUnavailable("The billing work failed; send the webhook again", error.code) from None
        invalid: FieldError = {"loc": ["content", "invoice"], "msg": error.detail, "type": error.code}
        raise InvalidEvent("The invoice cannot be billed", [invalid]) from None
    except Exception as error:
        # The SDK raises a bare Exception if an answer is not JSON.
        cause = getattr(error, "api_error_code", None) or code_of(error)
        raise BillingUnavailable("The billing work failed; send the webhook again", f"{what}: {cause}") from error
