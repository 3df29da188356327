"""The configuration that a process without a person cannot honour, and the queue's URL that the calls do not use."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from app.errors import ConfigurationError
from app.sqs import unattended
from tests.sqs.test_sdk import environment

__all__ = ["environment"]  # the fixture

ROLE = "role_arn = arn:aws:iam::000000000000:role/billing\n"
MFA = "mfa_serial = arn:aws:iam::000000000000:mfa/somebody\n"
CHAIN = f"[default]\n{ROLE}source_profile = base\n[profile base]\n"


def configure(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(text, encoding="utf-8")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))


@pytest.mark.parametrize("text", [f"[default]\n{ROLE}{MFA}source_profile = default\n", f"{CHAIN}{ROLE}{MFA}"])
def test_a_profile_that_asks_for_a_code(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The start fails, because botocore would wait for a code on the terminal, unless keys take precedence."""
    configure(text, monkeypatch, tmp_path)
    unattended.require_unattended()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(ConfigurationError, match=r"^mfa_serial [^\n]*$"):
        unattended.require_unattended()


@pytest.mark.parametrize(
    "text",
    [f"{CHAIN}aws_access_key_id = a\naws_secret_access_key = b\n{MFA}", f"{CHAIN}{ROLE}source_profile = default\n", ""],
)
def test_a_profile_without_a_code(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only a profile with a role uses the MFA device. Profiles may refer to each other in a circle."""
    configure(text, monkeypatch, tmp_path)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    unattended.require_unattended()


@pytest.mark.parametrize(
    ("name", "value", "refused"),
    [
        ("AWS_MAX_ATTEMPTS", "5", True),
        ("AWS_MAX_ATTEMPTS", "", False),
        ("AWS_RETRY_MODE", "adaptive", True),
        ("AWS_RETRY_MODE", "legacy", True),
        ("AWS_RETRY_MODE", "standard", False),
    ],
)
def test_retries(name: str, value: str, refused: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Retries that no client would make are refused, in a variable and in a profile."""
    key = name.removeprefix("AWS_").lower()
    for in_file, in_variable in ((f"{key} = {value}", ""), ("", value)):
        configure(f"[default]\n{in_file}\n", monkeypatch, tmp_path)
        monkeypatch.setenv(name, in_variable)
        with pytest.raises(ConfigurationError, match=rf"^{name}={value} [^\n]*$") if refused else nullcontext():
            unattended.require_unattended()


VPC = "vpce-0a1b2c3d-4e5f.sqs.us-east-1.vpce.amazonaws.com"


@pytest.mark.parametrize(
    ("host", "endpoint", "expected"),
    [
        ("sqs.us-east-1.amazonaws.com", None, None),
        ("us-east-1.queue.amazonaws.com", None, None),
        ("queue.amazonaws.com", None, None),
        ("sqs.us-east-1.api.aws", None, None),
        ("127.0.0.1:4566", None, None),
        ("sqs.eu-central-1.amazonaws.com", None, "names eu-central-1, but the calls go to the SDK's region, us-east-1"),
        ("sqs.us-gov-west-1.amazonaws.com", None, "names us-gov-west-1"),
        ("sqs.cn-north-1.amazonaws.com.cn", None, "names cn-north-1"),
        (VPC, None, f"names {VPC}, but AWS_ENDPOINT_URL_SQS does not"),
        (VPC, f"https://{VPC}", None),
    ],
)
def test_a_queue_elsewhere(
    host: str, endpoint: str | None, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warning says that the calls do not go to the region or to the endpoint of APP_SQS_QUEUE_URL."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    if endpoint is not None:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", endpoint)
    lines: list[str] = []
    monkeypatch.setattr("app.sqs.unattended.logger.warning", lambda text, *values: lines.append(text.format(*values)))
    unattended.warn_of_another_queue(f"https://{host}/000000000000/invoices")
    assert [expected in line for line in lines if expected] == [True] * (expected is not None)
    assert len(lines) == (expected is not None)
