"""The check of the AWS SDK's configuration: files, and when it builds a client."""

import os
from pathlib import Path

import pytest

from app.errors import ConfigurationError
from app.sqs import sdk
from tests.harness import queues

FILES = ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in queues.environment("http://127.0.0.1:9").items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("variable", FILES)
@pytest.mark.parametrize("wrong", ["retry_mode = nope", "metadata_service_timeout = abc", "defaults_mode = nope"])
def test_a_file_with_a_wrong_value(variable: str, wrong: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error is one line, as for the variable."""
    file = tmp_path / "file"
    file.write_text(f"[default]\n{wrong}\n")
    monkeypatch.setenv(variable, str(file))
    with pytest.raises(ConfigurationError, match=r"^AWS: [^\n]*$"):
        sdk.require_sdk()


def test_the_usual_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """With region, keys, endpoint and empty files, no client is built, because that would delay every start."""
    monkeypatch.setattr(sdk, "_build_client", lambda session: pytest.fail("a client was built"))
    sdk.require_sdk()


@pytest.mark.parametrize(
    ("uri", "expected"), [(None, "no credentials found"), ("http://refused-by-botocore.example", "Unsupported host")]
)
def test_credentials_are_missing(uri: str | None, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that has no credentials, or that fails, is an error of one line."""
    sdk.require_credentials()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    if uri is not None:
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", uri)
    with pytest.raises(ConfigurationError, match=rf"^AWS: [^\n]*{expected}[^\n]*$"):
        sdk.require_credentials()


def test_a_working_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Valid values are accepted, and no source of credentials is used: such a source may be a process."""
    file = tmp_path / "config"
    asked = tmp_path / "asked"
    file.write_text(f"[default]\nretry_mode = standard\ncredential_process = touch {asked}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(file))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    sdk.require_sdk()
    assert not asked.exists()


@pytest.mark.parametrize("value", ["", "/nope", "/"])
def test_a_ca_bundle_in_the_profile(value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A profile's CA bundle is checked like the variable's: with an empty name, botocore would verify nothing."""
    file = tmp_path / "config"
    file.write_text(f"[default]\nca_bundle = {value}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(file))
    with pytest.raises(ConfigurationError, match=r"^ca_bundle \(in the profile\)"):
        sdk.require_sdk()
