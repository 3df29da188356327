"""Settings: allowed values, and one line for each wrong one."""

import os
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from app.errors import ConfigurationError
from app.settings import ALL, ProcessSettings, Release, WebSettings, load_settings, load_worker_settings
from app.settings.text import listing, masked
from app.web.credentials import Accepted


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("APP_")]:
        monkeypatch.delenv(name)


def _load_both() -> None:
    load_settings()
    load_worker_settings()


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("APP_PORT", "abc", "0 to 65,535"),
        ("APP_PORT", "65536", "0 to 65,535"),
        ("APP_RELEASE", "v99_magic", ", ".join(Release)),
        ("APP_LOG_FORMAT", "xml", "auto, json, text"),
        ("APP_DOCS", "perhaps", "0, 1"),
        ("APP_MAX_BODY_BYTES", "1044481", "1 to 1,044,480"),
        ("APP_BODY_TIMEOUT", "0", "more than 0, at most 300"),
        ("APP_SQS_TIMEOUT", "1e-9", "0.1 to 60"),
        ("APP_EVENT_TYPES", "Pending Invoice", "names of a–z, 0–9 and _, separated by commas"),
        ("APP_EVENT_TYPES", "invoice_updated,Pending", "names of a–z, 0–9 and _, separated by commas"),
        ("APP_EVENT_TYPES", ",", "names of a–z, 0–9 and _, separated by commas"),
        ("APP_SQS_QUEUE_URL", "invoices", "an http(s) URL without credentials that ends in the queue's name"),
        ("APP_SQS_QUEUE_URL", "http:///0/q", "an http(s) URL without credentials that ends in the queue's name"),
        ("APP_SQS_QUEUE_URL", "http://h:65536/0/q", "an http(s) URL without credentials that ends in the queue's name"),
        (
            "APP_DEAD_LETTER_QUEUE_URL",
            "http://h:0/0/q",
            "an http(s) URL without credentials that ends in the queue's name",
        ),
        ("APP_CHARGEBEE_URL", "https://h:65536", "an http(s) URL without credentials and path"),
    ],
)
def test_a_wrong_value(monkeypatch: pytest.MonkeyPatch, name: str, value: str, allowed: str) -> None:
    """The error is one line with the variable, the value and what is allowed."""
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as error:
        _load_both()
    [line] = str(error.value).splitlines()
    assert line == f"{name}={value}: allowed is {allowed}"


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"APP_PROT": "1"}, "APP_PROT is not a setting: did you mean APP_PORT?"),
        ({"APP_BASIC_AUTH_USERNAME": "a"}, "APP_BASIC_AUTH_USERNAME and APP_BASIC_AUTH_PASSWORD"),
        ({"APP_BASIC_AUTH_PREVIOUS_PASSWORD": "hidden"}, "APP_BASIC_AUTH_PREVIOUS_USERNAME and"),
        ({"APP_BASIC_AUTH_USERNAME": "a:b", "APP_BASIC_AUTH_PASSWORD": "hidden"}, "a colon is not allowed"),
        ({"APP_MAX_BUFFERED_BYTES": "1000"}, "APP_MAX_BUFFERED_BYTES=1000"),
        (
            {"APP_SQS_QUEUE_URL": "http://sqs/0/one", "APP_DEAD_LETTER_QUEUE_URL": "http://sqs/0/one"},
            "APP_DEAD_LETTER_QUEUE_URL=http://sqs/0/one",
        ),
    ],
    ids=str,
)
def test_unknown_or_contradictory(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], message: str) -> None:
    """Typos and contradictions are rejected; the error repeats no secret."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as error:
        _load_both()
    assert message in str(error.value)
    assert "hidden" not in str(error.value)


def test_an_empty_variable_is_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    """`docker run -e NAME=` takes a variable of an --env-file back, so that `queue --peek` can name the other queue."""
    queue = "https://sqs.eu-central-1.amazonaws.com/1/dead"
    monkeypatch.setenv("APP_SQS_QUEUE_URL", queue)
    monkeypatch.setenv("APP_DEAD_LETTER_QUEUE_URL", "")
    settings = load_worker_settings()
    assert (settings.sqs_queue_url, settings.dead_letter_queue_url) == (queue, None)


@pytest.mark.parametrize("blank", ["", "  "], ids=["empty", "spaces"])
@pytest.mark.parametrize("pair", ["APP_BASIC_AUTH", "APP_BASIC_AUTH_PREVIOUS"])
@pytest.mark.parametrize("which", [["USERNAME"], ["PASSWORD"], ["USERNAME", "PASSWORD"]], ids="-".join)
def test_blank_credentials(monkeypatch: pytest.MonkeyPatch, which: list[str], pair: str, blank: str) -> None:
    """A user or password that is empty or only spaces is rejected, and does not count as unset; a line for each."""
    for name in ("USERNAME", "PASSWORD"):
        monkeypatch.setenv(f"{pair}_{name}", blank if name in which else "chargebee")
    with pytest.raises(ConfigurationError) as error:
        load_settings()
    lines = str(error.value).splitlines()
    assert [line.partition("=")[0] for line in lines] == [f"{pair}_{name}" for name in which]
    assert all(line.endswith(", not blank") for line in lines)


@pytest.mark.parametrize("pair", ["APP_BASIC_AUTH", "APP_BASIC_AUTH_PREVIOUS"])
@pytest.mark.parametrize("wrong", ["s3cret-pass\n", "a\x1bb", "p\udce9ss"], ids=ascii)
def test_credentials_that_no_client_can_send(monkeypatch: pytest.MonkeyPatch, pair: str, wrong: str) -> None:
    """A line break at the end of a Secret, and bytes that are not UTF-8, prevent the start; the error hides them."""
    for name in ("USERNAME", "PASSWORD"):
        monkeypatch.setenv(f"{pair}_{name}", wrong)
    with pytest.raises(ConfigurationError) as error:
        load_settings()
    assert f"{pair}_USERNAME=" in str(error.value)
    assert f"{pair}_PASSWORD=(hidden): allowed is UTF-8 text" in str(error.value)


@pytest.mark.parametrize("wrong", [" ", "live_s3cret\n", "live s3cret", "live_ä"], ids=ascii)
def test_a_key_that_chargebee_cannot_know(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """A key with white space or other characters that no key has prevents the start; the error hides it."""
    monkeypatch.setenv("APP_CHARGEBEE_API_KEY", wrong)
    with pytest.raises(ConfigurationError) as error:
        load_worker_settings()
    line = "APP_CHARGEBEE_API_KEY=(hidden): allowed is printable ASCII characters without white space"
    assert str(error.value) == line


def test_a_blank_pair_is_never_accepted() -> None:
    """The settings reject it, and the gate ignores it in a copy of the settings that is not validated."""
    blank = {"basic_auth_username": "", "basic_auth_password": SecretStr("")}
    with pytest.raises(ValidationError):
        WebSettings.model_validate(blank)
    accepted = Accepted(WebSettings().model_copy(update=blank))
    assert not any(map(accepted.accepts, (b"", b"Basic ", b"Basic Og==")))


@pytest.mark.parametrize(
    "url",
    [
        "https://user:hidden@sqs.example/0/invoices",
        "https://user:hid/hidden@sqs.example/0/invoices",
        "https://user:p@hidden@sqs.example/0/invoices",
        "user:hidden@sqs.example/0/invoices",
        "https://sqs.example/0/invoices?token=hidden",
        "https://sqs.example/hidden?x=/invoices",
    ],
)
def test_no_credentials_in_the_queues_url(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Messages that name the queue would show credentials, so the settings reject them, and the error hides them."""
    monkeypatch.setenv("APP_SQS_QUEUE_URL", url)
    with pytest.raises(ConfigurationError) as error:
        load_settings()
    assert str(error.value) == (
        "APP_SQS_QUEUE_URL=(hidden): allowed is an http(s) URL without credentials that ends in the queue's name"
    )


def test_several_wrong_values_are_reported_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has a line for each wrong value."""
    monkeypatch.setenv("APP_PORT", "abc")
    monkeypatch.setenv("APP_MAX_IN_FLIGHT", "0")
    with pytest.raises(ConfigurationError) as error:
        load_settings()
    assert [line.partition("=")[0] for line in str(error.value).splitlines()] == ["APP_PORT", "APP_MAX_IN_FLIGHT"]


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither repr nor str shows a secret."""
    monkeypatch.setenv("APP_BASIC_AUTH_USERNAME", "chargebee")
    monkeypatch.setenv("APP_BASIC_AUTH_PASSWORD", "hidden")
    settings = load_settings()
    assert "hidden" not in f"{settings!r} {settings}"
    assert settings.basic_auth_password is not None
    assert settings.basic_auth_password.get_secret_value() == "hidden"


def test_a_validation_error_repeats_no_secret() -> None:
    """pydantic's own error, which a traceback may show, contains no value."""
    with pytest.raises(ValidationError) as error:
        WebSettings.model_validate({"basic_auth_password": "hidden"})
    assert "hidden" not in f"{error.value} {error.value!r}"


def test_frozen() -> None:
    """A setting cannot change while the process runs."""
    with pytest.raises(ValueError, match="frozen"):
        WebSettings().port = 1  # type: ignore[misc]  # that it cannot be set is the point


def test_web_requires_a_queue_and_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process does not start until both are set."""
    with pytest.raises(ConfigurationError, match="APP_SQS_QUEUE_URL is not set"):
        load_settings().require_web()
    monkeypatch.setenv("APP_SQS_QUEUE_URL", "https://sqs.eu-central-1.amazonaws.com/123456789012/invoices")
    with pytest.raises(ConfigurationError, match="APP_BASIC_AUTH_USERNAME is not set"):
        load_settings().require_web()
    monkeypatch.setenv("APP_BASIC_AUTH_USERNAME", "chargebee")
    monkeypatch.setenv("APP_BASIC_AUTH_PASSWORD", "hidden")
    load_settings().require_web()


def test_a_list_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spaces around a comma are allowed."""
    monkeypatch.setenv("APP_EVENT_TYPES", "pending_invoice_created, invoice_updated")
    assert load_settings().event_types == {"pending_invoice_created", "invoice_updated"}


PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


@pytest.mark.parametrize("settings", ALL)
def test_every_setting_is_explained(settings: type[ProcessSettings]) -> None:
    """The tables of docs/settings.md, `web --help` and `worker --help` explain every setting."""
    for text in (PAGE.read_text(encoding="utf-8"), listing(settings)):
        for name, field in settings.model_fields.items():
            assert f"APP_{name.upper()}" in text
            assert field.description is not None
            assert field.description in text


def test_few_settings() -> None:
    """The tables for a deployment stay short."""
    assert len({name for settings in ALL for name in settings.model_fields}) <= 38


def test_credentials_in_an_error_of_a_library() -> None:
    """Each URL in the text is shown without its user and password."""
    text = 'Cannot connect to "http://user:s3cret@127.0.0.1:9" or https://key@host/path'
    assert masked(text) == 'Cannot connect to "http://***@127.0.0.1:9" or https://***@host/path'


def test_a_process_reads_what_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The web process starts with a wrong variable of the worker, which the worker rejects, and the other way round."""
    monkeypatch.setenv("APP_WORKER_CONCURRENCY", "0")
    monkeypatch.setenv("APP_MAX_IN_FLIGHT", "5")
    assert load_settings().max_in_flight == 5
    with pytest.raises(ConfigurationError, match="APP_WORKER_CONCURRENCY=0"):
        load_worker_settings()
    monkeypatch.setenv("APP_WORKER_CONCURRENCY", "7")
    monkeypatch.setenv("APP_MAX_IN_FLIGHT", "0")
    assert load_worker_settings().worker_concurrency == 7
    with pytest.raises(ConfigurationError, match="APP_MAX_IN_FLIGHT=0"):
        load_settings()
