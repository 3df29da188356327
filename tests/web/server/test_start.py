"""Starts real processes: wrong settings of the SDK and used ports prevent the start."""

import os
import signal
import socket
import subprocess
import sys
import time
from functools import partial

import pytest

from app.errors import ConfigurationError
from app.settings import NEWEST, Release
from app.sqs.account import require_direct
from app.sqs.sdk import require_sdk
from app.sqs.unattended import require_unattended
from loadtest.stage.queues import QueueProcess
from local.ports import free_port
from tests.harness.service import environment


def test_aws_without_a_region(queue_url: str) -> None:
    """The process prints one line and exits with code 2 before it listens."""
    settings = environment("http://127.0.0.1:9", queue_url)
    del settings["AWS_DEFAULT_REGION"]
    command = [sys.executable, "-m", "app", "web"]
    found = subprocess.run(command, env=settings, capture_output=True, encoding="utf-8", check=False)
    assert found.returncode == 2
    assert found.stderr == "error: AWS_DEFAULT_REGION is not set: allowed is a region, such as eu-central-1\n"


NOT_URLS = ["foo", "127.0.0.1:4566", "http://", "http://host:99999", "ftp://host", "http://a b"]
MISSING_PROFILE = ({"AWS_PROFILE": "nope"}, "AWS: The config profile (nope) could not be found")
BUNDLES = ["AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"]
WRONG = [
    *(({"AWS_ENDPOINT_URL": url}, f"AWS_ENDPOINT_URL={url}: allowed is a URL with http or https") for url in NOT_URLS),
    ({"AWS_ENDPOINT_URL_SQS": "foo"}, "AWS_ENDPOINT_URL_SQS=foo: allowed is a URL with http or https"),
    MISSING_PROFILE,
    (
        {"AWS_CA_BUNDLE": "/nope"},
        "AWS_CA_BUNDLE=/nope: allowed is a file with certificates (No such file or directory)",
    ),
    (
        {"AWS_CA_BUNDLE": __file__},
        f"AWS_CA_BUNDLE={__file__}: allowed is a file with certificates (the certificates are missing or invalid)",
    ),
    ({"AWS_CA_BUNDLE": "/"}, "AWS_CA_BUNDLE=/: allowed is a file with certificates"),
    *(({name: ""}, f"{name} is empty: set a file with certificates, or unset it") for name in BUNDLES),
    ({"AWS_CA_BUNDLE": " "}, "AWS_CA_BUNDLE is empty: set a file with certificates, or unset it"),
    ({"REQUESTS_CA_BUNDLE": "/nope"}, "REQUESTS_CA_BUNDLE=/nope: allowed is a file with certificates"),
    ({"AWS_CONFIG_FILE": __file__}, "AWS: Unable to parse config file"),
]
REGION = "(or the profile's region): allowed is a region, such as eu-central-1"
REJECTED = [
    ({"AWS_DEFAULT_REGION": "eu_central_1"}, f"AWS_DEFAULT_REGION=eu_central_1 {REGION}"),
    ({"AWS_SECRET_ACCESS_KEY": ""}, "AWS_SECRET_ACCESS_KEY is not set: set both"),
    ({"AWS_ACCESS_KEY_ID": ""}, "AWS_ACCESS_KEY_ID is not set: set both"),
    ({"AWS_ENDPOINT_URL": "http://user:word@host"}, "AWS_ENDPOINT_URL=(hidden): allowed is a URL with http or https"),
    ({"AWS_ENDPOINT_URL": "http://host/?a=b"}, "AWS_ENDPOINT_URL=(hidden): allowed is a URL with http or https"),
    ({"AWS_ACCESS_KEY_ID": "key\r\nX-Injected: 1"}, "AWS_ACCESS_KEY_ID=(hidden): allowed are printable ASCII"),
    ({"AWS_DEFAULT_REGION": "eu-central-1\n"}, f"AWS_DEFAULT_REGION=eu-central-1 {REGION}"),
    ({"AWS_RETRY_MODE": "nope"}, 'AWS: Invalid value provided to "mode": "nope"'),
    ({"AWS_STS_REGIONAL_ENDPOINTS": "foo"}, "AWS: STS regional endpoints option foo is invalid"),
    ({"AWS_METADATA_SERVICE_TIMEOUT": "abc"}, "AWS: invalid literal for int() with base 10: 'abc'"),
]
UNATTENDED = [
    ({"AWS_MAX_ATTEMPTS": "5"}, "AWS_MAX_ATTEMPTS=5 (or max_attempts in the profile): the retries are fixed"),
    ({"AWS_RETRY_MODE": "adaptive"}, "AWS_RETRY_MODE=adaptive (or retry_mode in the profile): the retries are fixed"),
]
PROXIED = [
    ({"HTTP_PROXY": "http://127.0.0.1:9"}, "http://127.0.0.1:9 is behind a proxy (HTTP_PROXY)"),
    (
        {"HTTPS_PROXY": "http://127.0.0.1:9", "AWS_ENDPOINT_URL": "https://sqs.example"},
        "is behind a proxy (HTTPS_PROXY)",
    ),
]
COMMANDS = ["worker", "setup", "redrive", "reconcile", "queue"]
slow = partial(pytest.param, marks=pytest.mark.slow)


def variables(**settings: object) -> dict[str, str]:
    """Returns the environment of a process, without proxies and CA bundles."""
    billing = {"billing_table": "billing", "chargebee_url": "http://127.0.0.1:9", "chargebee_api_key": "key"}
    queues = {name: f"http://127.0.0.1:9/000000000000/{name}" for name in ("sqs_queue_url", "dead_letter_queue_url")}
    made = environment("http://127.0.0.1:9", None, **settings, **billing, **queues)
    dropped = ("_proxy", "_ca_bundle")
    return {name: value for name, value in made.items() if not name.lower().endswith(dropped)}


def check_as_a_start_does() -> None:
    require_sdk()
    require_unattended()
    require_direct()


@pytest.mark.parametrize(("wrong", "expected"), WRONG + REJECTED + UNATTENDED + PROXIED)
def test_a_wrong_configuration_of_the_sdk(
    wrong: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checks at the start raise an error of one line, which names the variable."""
    monkeypatch.setattr(os, "environ", variables() | wrong)
    with pytest.raises(ConfigurationError, match=r"^[^\n]*$") as raised:
        check_as_a_start_does()
    assert expected in str(raised.value)


NO_BUNDLE = ({"AWS_CA_BUNDLE": ""}, "AWS_CA_BUNDLE is empty")


@pytest.mark.parametrize(
    ("command", "release", "wrong", "expected"),
    [
        *(("web", NEWEST, *case) for case in (NO_BUNDLE, UNATTENDED[0], PROXIED[0])),
        *(slow("web", release, *NO_BUNDLE) for release in Release if release is not NEWEST),
        *(slow(command, NEWEST, *NO_BUNDLE) for command in COMMANDS),
        slow("worker", NEWEST, *UNATTENDED[0]),
    ],
)
def test_each_process_checks_the_sdk(command: str, release: str, wrong: dict[str, str], expected: str) -> None:
    """One line names the variable, and the process exits with code 2 before it listens or calls anything."""
    call = [sys.executable, "-m", "app", command]
    found = subprocess.run(
        call, env=variables(release=release) | wrong, capture_output=True, encoding="utf-8", check=False, timeout=200
    )
    [line] = found.stderr.splitlines()
    assert line.startswith("error: ")
    assert expected in line
    assert found.returncode == 2


def test_two_at_the_same_moment(aws: QueueProcess, queue_url: str) -> None:
    """If two services bind the same port, at most one starts, and the other service reports the reason."""
    command = [sys.executable, "-m", "app", "web"]
    settings = environment(aws.endpoint, queue_url, port=free_port())
    both = [subprocess.Popen(command, env=settings, stderr=subprocess.PIPE, encoding="utf-8") for _ in range(2)]
    while all(process.poll() is None for process in both):
        time.sleep(0.01)
    loser, winner = sorted(both, key=lambda process: process.poll() is None)
    assert loser.wait() == 2
    assert "cannot listen there" in loser.communicate()[1]
    assert winner.stderr is not None
    said = next((line for line in winner.stderr if "listen" in line.lower()), "")
    winner.send_signal(signal.SIGINT)
    winner.communicate(timeout=60)
    # Once in about 20,000 times, both fail under Linux, because each finds that the other is about to listen.
    assert winner.returncode == 0 or "cannot listen there" in said


def test_a_port_that_is_taken(aws: QueueProcess, queue_url: str) -> None:
    """One line names the variables, and the process exits with code 2."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "app", "web"]
        found = subprocess.run(
            command,
            env=environment(aws.endpoint, queue_url, port=port),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    assert found.returncode == 2
    [line] = found.stderr.splitlines()
    assert f"APP_HOST=127.0.0.1, APP_PORT={port}: cannot listen there" in line
