"""Blocking calls for which nothing waits when the process ends."""

import asyncio
import threading

import pytest
from botocore.httpsession import ProxyConfiguration
from botocore.utils import get_environ_proxies

from app.errors import ConfigurationError
from app.sqs.account import in_background, proxy_of


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
        task = asyncio.create_task(in_background(call))
        assert await asyncio.to_thread(begun.wait, 60)
        if cancelled:
            task.cancel()

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
