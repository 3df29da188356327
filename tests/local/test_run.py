"""What a local run changes in the settings of its service."""

import pytest

from app.local.run import LocalRun, deployed
from app.settings import Release, Settings

RUN = LocalRun(
    1, "http://127.0.0.1:1", "http://127.0.0.1:1/0/q", "http://127.0.0.1:1/0/d", "http://127.0.0.1:2", "key", "table"
)


def _max_wait(monkeypatch: pytest.MonkeyPatch, release: Release, **variables: str) -> float:
    for name, value in {"APP_LOCAL": "1", "APP_RELEASE": release.value, **variables}.items():
        monkeypatch.setenv(name, value)
    return deployed(Settings(), RUN).max_wait


@pytest.mark.parametrize("each", list(Release), ids=str)
def test_the_published_releases_shed_no_load_by_time(monkeypatch: pytest.MonkeyPatch, each: Release) -> None:
    """v01 to v07 let a webhook wait, as the published service did; later releases have their own default."""
    assert _max_wait(monkeypatch, each) == (0 if each <= Release.V07_SYNC_HANDLER else 5)


@pytest.mark.parametrize("each", [Release.V01_INLINE, Release.V07_SYNC_HANDLER, Release.V10_LEAN_CLIENT], ids=str)
def test_a_limit_that_the_user_has_set(monkeypatch: pytest.MonkeyPatch, each: Release) -> None:
    """APP_MAX_WAIT applies to every release, even if it is the default; an empty one counts as not set."""
    for seconds in ("5", "3"):
        assert _max_wait(monkeypatch, each, APP_MAX_WAIT=seconds) == float(seconds)
    assert _max_wait(monkeypatch, each, APP_MAX_WAIT="") == (5 if each is Release.V10_LEAN_CLIENT else 0)
