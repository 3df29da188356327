"""The table of refusals matches the tree of errors."""

from http import HTTPStatus

from app.errors import TemporarilyUnavailable, WebhookRefused
from app.web.problems import REFUSALS


def _kinds(error: type[WebhookRefused]) -> set[type[WebhookRefused]]:
    """Returns the classes without subclasses, which are the classes that are raised."""
    below = error.__subclasses__()
    return set().union(*map(_kinds, below)) if below else {error}


def test_every_error_has_an_answer() -> None:
    """Each error class that can be raised has a row, and a unique name in the log."""
    assert _kinds(WebhookRefused) == set(REFUSALS)
    assert len({refusal.slug for refusal in REFUSALS.values()}) == len(REFUSALS)


def test_what_may_be_accepted_later_says_when() -> None:
    """TemporarilyUnavailable means 503 with Retry-After. Everything else means 4xx without Retry-After."""
    for kind, refusal in REFUSALS.items():
        later = issubclass(kind, TemporarilyUnavailable)
        assert ("Retry-After" in refusal.headers) is later
        assert (refusal.status == HTTPStatus.SERVICE_UNAVAILABLE) is later
        assert later or 400 <= refusal.status < 500
