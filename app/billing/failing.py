"""What the blocking clients of v01 raise, in the terms of app.errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.errors import BillingUnavailable
from app.sqs.failures import code_of


@contextmanager
def failing(what: str) -> Iterator[None]:
    """Turns whatever a client raises into our error."""
    try:
        yield
    except Exception as error:
        # The SDK raises a bare Exception for an answer that is not JSON.
        cause = getattr(error, "api_error_code", None) or code_of(error)
        raise BillingUnavailable("The billing work could not be done; send it again", f"{what}: {cause}") from error
