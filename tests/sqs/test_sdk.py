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
    file.write_text(f"[default]\n{wrong}\n", encoding="utf-8")
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
    file.write_text(f"[default]\nretry_mode = standard\ncredential_process = touch {asked}\n", encoding="utf-8")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(file))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    sdk.require_sdk()
    assert not asked.exists()


@pytest.mark.parametrize("value", ["", "/nope", "/"])
def test_a_ca_bundle_in_the_profile(value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A profile's CA bundle is checked like the variable's: with an empty name, botocore would verify nothing."""
    file = tmp_path / "config"
    file.write_text(f"[default]\nca_bundle = {value}\n", encoding="utf-8")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(file))
    with pytest.raises(ConfigurationError, match=r"^ca_bundle \(in the profile\)"):
        sdk.require_sdk()


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"])
@pytest.mark.parametrize("wrong", [" key", "key ", "key\n", "key\r\nX-Injected: 1", "k\tey", "k\u00e4y", "k\u2028ey"])
def test_a_key_with_white_space(name: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error hides the value, which would become part of a request's head."""
    monkeypatch.setenv(name, wrong)
    with pytest.raises(ConfigurationError, match=rf"^{name}=\(hidden\): [^\n]*$"):
        sdk.require_sdk()


@pytest.mark.parametrize("variable", FILES)
def test_a_key_with_a_line_break_in_a_file(variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A continued line in a file is a line break in the key."""
    file = tmp_path / "file"
    file.write_text("[default]\naws_session_token = token\n  X-Injected: 1\n", encoding="utf-8")
    monkeypatch.setenv(variable, str(file))
    with pytest.raises(ConfigurationError, match=r"^aws_session_token \(in the profile\)=\(hidden\)"):
        sdk.require_sdk()


@pytest.mark.parametrize("region", ["eu-central-1\n", " eu-central-1", "eu-central-1\r\nX-Injected: 1", "eu central"])
def test_a_region_with_white_space(region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The region is part of a request's head, too."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    with pytest.raises(ConfigurationError, match=r"^AWS_DEFAULT_REGION=[^\n]*$"):
        sdk.require_sdk()


WRONG_URLS = ["http://user:pass@host", "http://host/?a=b", "http://host//", "http://host/a/../b", "http://host/a%20b"]


@pytest.mark.parametrize("url", [*WRONG_URLS, "http://host/a+b", "http://host/\u00e4", "http://host/a:b"])
def test_an_endpoint_that_clients_read_differently(url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The start refuses the endpoint, in a variable and in a profile, and hides a password or a query."""
    file = tmp_path / "config"
    file.write_text(f"[default]\nendpoint_url = {url}\n", encoding="utf-8")
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    for name in ("AWS_ENDPOINT_URL", "endpoint_url"):
        with pytest.raises(ConfigurationError, match=rf"^{name}=[^\n]*allowed is a URL") as error:
            sdk.require_sdk()
        assert "pass" not in str(error.value)
        monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
        monkeypatch.setenv("AWS_CONFIG_FILE", str(file))


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS", "AWS_ENDPOINT_URL_DYNAMODB"])
def test_an_empty_endpoint(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start refuses the endpoint: botocore would ignore the variable, and call the real service."""
    monkeypatch.setenv(name, "")
    with pytest.raises(ConfigurationError, match=rf"^{name}=: allowed is a URL"):
        sdk.require_sdk()


@pytest.mark.parametrize("url", ["http://host", "http://host/", "http://host/a/b-c_d.e~f/", "https://[::1]:4566/x"])
def test_an_endpoint(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that Signature V4 signs unchanged is accepted."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    sdk.require_sdk()
