"""Tests which release is named as the cure."""

import pytest

from app.settings import Release
from asgi_doctor.finding import Cure, Finding, Kind
from local.doctor.doctored_releases import showing


@pytest.mark.parametrize(
    ("kind", "release"),
    [
        (Kind.WAITS, Release.V08_NATIVE_ASYNC),
        (Kind.BUILDS, Release.V06_SHARED_QUEUE),
        (Kind.STARVES, Release.V04_MORE_TOKENS),
    ],
)
def test_the_release_of_a_finding(kind: Kind, release: Release) -> None:
    """A release is named where its change is the cure."""
    assert release in showing(_finding(kind))


def test_a_regular_expression() -> None:
    """No release is named for a line that computes, because none cures that."""
    assert showing(_finding(Kind.COMPUTES)) == ()


def _finding(kind: Kind) -> Finding:
    return Finding("shop.py", 10, "pay", "GET /pay", kind, 1, 0.3, 0.3, (), Cure("do less"), "pay()")
