"""The configuration that the lean client takes from botocore, and blocking calls that do not delay the end."""

import asyncio
import threading
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import botocore.session
import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.exceptions import CredentialRetrievalError
from botocore.httpsession import ProxyConfiguration
from botocore.utils import get_environ_proxies

from app.errors import ConfigurationError
from app.sqs.account import Account, in_background, proxy_of
from app.sqs.lean import LeanQueue
from app.sqs.queue import QueueAddress, SendLimits
from app.sqs.signing import Credentials
from tests.sqs.test_sdk import environment
from tests.sqs.test_signing import NOON, by_botocore, parsed

__all__ = ["environment"]  # the fixture

PORTS = {"http": 80, "https": 443}


def test_what_a_call_returns_and_raises() -> None:
    """The caller gets the result, or the exception."""

    async def both() -> int:
        with pytest.raises(OSError, match="no"):
            await in_background(lambda: (_ for _ in ()).throw(OSError("no")))
        return await in_background(lambda: 7)

    assert asyncio.run(both()) == 7


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_loop_that_ends_before_the_call(cancelled: bool, caplog: pytest.LogCaptureFixture) -> None:
    """The event loop closes before the call ends, and the result that comes later is ignored."""
    begun, go_on = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def call() -> None:
        threads.append(threading.current_thread())
        begun.set()
        go_on.wait()

    async def start() -> None:
        future = in_background(call)
        assert await asyncio.to_thread(begun.wait, 60)
        if cancelled:
            future.cancel()

    asyncio.run(start())
    assert threads[0].is_alive()
    go_on.set()
    threads[0].join()
    assert caplog.records == []


@pytest.mark.parametrize(
    ("proxies", "expected"),
    [
        ({"HTTPS_PROXY": "http://proxy:3128"}, "http://proxy:3128"),
        ({"https_proxy": "https://user:word@proxy"}, "https://user:word@proxy"),
        ({"HTTPS_PROXY": "proxy:3128"}, "http://proxy:3128"),
        ({"HTTPS_PROXY": "//proxy:3128"}, "http://proxy:3128"),
        ({"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "localhost,.chargebee.com"}, None),
        ({"HTTPS_PROXY": ""}, None),
        ({"HTTP_PROXY": "http://proxy:3128"}, None),
    ],
    ids=str,
)
def test_the_proxy_of_a_url(
    proxies: dict[str, str], expected: str | None, no_proxies: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A URL has the proxy of its scheme, unless NO_PROXY excludes the host; botocore's clients use the same one."""
    for name, value in proxies.items():
        monkeypatch.setenv(name, value)
    url = "https://site.chargebee.com"
    assert proxy_of(url) == expected == ProxyConfiguration(get_environ_proxies(url)).proxy_url_for(url)


@pytest.mark.parametrize("proxy", ["socks5://proxy:1080", "http://", "http://proxy:many", "http://proxy:99999"])
def test_a_proxy_that_is_no_http_proxy(proxy: str, no_proxies: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the variable, and does not repeat the value, which may have a password."""
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(ConfigurationError, match=r"^HTTPS_PROXY: allowed is the URL of an HTTP proxy"):
        proxy_of("https://site.chargebee.com")


class Captured(Exception):
    """Contains the request that botocore would send."""


def captured(request: AWSPreparedRequest, **_: object) -> NoReturn:
    raise Captured(request)


def botocores() -> AWSPreparedRequest:
    client: Any = botocore.session.Session().create_client("sqs")
    client.meta.events.register("before-send", captured)
    with pytest.raises(Captured) as found:
        client.get_queue_url(QueueName="invoices")
    request: AWSPreparedRequest = found.value.args[0]
    return request


SERVICES = "[default]\nservices = ours\n[services ours]\nsqs =\n  endpoint_url = https://services.example\n"
CONFIGURATIONS: list[tuple[dict[str, str], str]] = [
    ({}, ""),
    ({"AWS_DEFAULT_REGION": "cn-north-1"}, ""),
    ({"AWS_DEFAULT_REGION": "us-gov-west-1"}, ""),
    ({"AWS_DEFAULT_REGION": "us-iso-east-1"}, ""),
    ({"AWS_DEFAULT_REGION": "fips-us-east-1"}, ""),
    ({"AWS_DEFAULT_REGION": "us-east-1", "AWS_USE_FIPS_ENDPOINT": "true"}, ""),
    ({"AWS_USE_DUALSTACK_ENDPOINT": "true"}, ""),
    ({}, "[default]\nregion = us-west-2\nuse_dualstack_endpoint = true\n"),
    ({}, "[default]\nendpoint_url = https://profile.example\n"),
    ({}, SERVICES),
    ({"AWS_ENDPOINT_URL_SQS": "https://variable.example", "AWS_ENDPOINT_URL": "https://other.example"}, SERVICES),
    ({"AWS_ENDPOINT_URL": "https://ignored.example", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}, ""),
    *(
        ({"AWS_ENDPOINT_URL": url}, "")
        for url in (
            "https://vpce-1.sqs.eu-central-1.vpce.amazonaws.com",
            "https://SQS.Example/",
            "https://sqs.example.:443/path",
            "http://sqs.example:80/path/",
            "http://127.0.0.1:4566",
            "https://[::1]:8443/a/b-c_d.e~f",
        )
    ),
]


@pytest.mark.parametrize(("variables", "profile"), CONFIGURATIONS)
def test_where_calls_go(
    variables: dict[str, str], profile: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The lean client's request has the address, the path, the host and the signature of botocore's."""
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    (tmp_path / "config").write_text(profile, encoding="utf-8")
    for name, value in {"AWS_CONFIG_FILE": str(tmp_path / "config"), **variables}.items():
        monkeypatch.setenv(name, value)
    if "region" in profile:
        monkeypatch.delenv("AWS_DEFAULT_REGION")
    expected = botocores()
    url = urlsplit(expected.url)
    region = str(expected.headers["Authorization"]).split("/")[2]

    queue, keys = LeanQueue(Account(), QueueAddress("invoices", None), SendLimits()), Credentials("key", "secret")
    line, headers = parsed(queue._get_url.head(b"body", keys, NOON))
    assert (queue._connections._host, queue._connections._port) == (url.hostname, url.port or PORTS[url.scheme])
    assert (queue._connections._tls is not None) is (url.scheme == "https")
    assert line == f"POST {url.path} HTTP/1.1"
    unsigned = {name: headers[name] for name in ("content-type", "x-amz-target")}
    signed = by_botocore(unsigned, expected.url, b"body", keys, region, NOON)
    assert headers["authorization"] == signed.headers["Authorization"]  # botocore adds the host that it signs


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"])
def test_a_key_that_ends_a_header(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that later gives such a key fails like a source that cannot be reached."""
    monkeypatch.setenv(name, "key\r\nX-Injected: 1")
    with pytest.raises(CredentialRetrievalError):
        Account().credentials()
