"""Fixtures: a pretended service, its page, a browser."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page

from local.live.page_config import PageConfig
from local.live.start import start
from tests.harness.browser import PATIENCE_MS, chromium
from tests.local.live.pretended import Pretended


@pytest.fixture
def service() -> Iterator[Pretended]:
    with Pretended() as service:
        yield service


@pytest.fixture
def page_of() -> Iterator[Callable[..., str]]:
    """Starts a page, in a separate process, that shows the given services, and returns the URL."""
    with ExitStack() as stack:

        def started(*services: Pretended) -> str:
            page = stack.enter_context(start())
            page.show(PageConfig([service.shown() for service in services]))
            url = page.url()
            assert url is not None
            return url

        yield started


@pytest.fixture
def url(page_of: Callable[..., str], service: Pretended) -> str:
    """Returns the URL of a page that shows one service."""
    return page_of(service)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def tab(browser: Browser, page_of: Callable[..., str]) -> Iterator[Page]:
    """Opens a browser tab. Fails if its console has an error, such as a violation of the content policy."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    yield page
    page.close()
    assert complaints == []
