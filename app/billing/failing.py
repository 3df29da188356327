"""Translates the exceptions of the blocking clients of v01 into those of app.errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.errors import BillingUnavailable, Flaw, InvalidEvent, Unprocessable
from app.sqs.failures import code_of


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
