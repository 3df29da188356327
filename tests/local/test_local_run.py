"""The variables that a local run sets for its service, and its file."""

import pytest

from app.settings import NEWEST, Release
from local.launch import defaults


@pytest.mark.parametrize("each", list(Release), ids=str)
def test_the_published_releases_shed_no_load_by_time(each: Release) -> None:
    """v01 to v07 let a webhook wait, as the published service did; later releases keep the default."""
    assert defaults({}, each).get("APP_MAX_WAIT") == ("0" if each <= Release.V07_SYNC_HANDLER else None)


@pytest.mark.parametrize("given", ["5", "3"])
def test_a_limit_that_the_user_has_set(given: str) -> None:
    """APP_MAX_WAIT applies to every release; an empty one counts as not set."""
    assert "APP_MAX_WAIT" not in defaults({"APP_MAX_WAIT": given}, Release.V07_SYNC_HANDLER)
    assert defaults({"APP_MAX_WAIT": ""}, Release.V07_SYNC_HANDLER)["APP_MAX_WAIT"] == "0"


def test_credentials() -> None:
    """The credentials are demo:demo, unless the user has set a pair."""
    assert defaults({}, NEWEST)["APP_BASIC_AUTH_USERNAME"] == "demo"
    given = {"APP_BASIC_AUTH_USERNAME": "chargebee", "APP_BASIC_AUTH_PASSWORD": "8-characters"}
    assert not {"APP_BASIC_AUTH_USERNAME", "APP_BASIC_AUTH_PASSWORD"} & defaults(given, NEWEST).keys()
