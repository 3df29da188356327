"""The variables that a process under measurement gets."""

import pytest

from loadtest.stage.subject import surroundings


def test_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings, credentials, and PYTHONDONTWRITEBYTECODE, which would slow each start down, are left out."""
    left_out = {"APP_PORT", "AWS_SECRET_ACCESS_KEY", "PYTHONDONTWRITEBYTECODE"}
    for name in (*left_out, "PYTHONHASHSEED"):
        monkeypatch.setenv(name, "1")
    assert "PYTHONHASHSEED" in surroundings()
    assert not left_out & surroundings().keys()
