"""Compares the page in a real browser with what two senders know: this test, and the page's button."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from local.sample_events import fresh_events
from tests.harness.browser import PATIENCE_MS, chromium, needs_chromium
from tests.harness.commands import LocalRunProcess

pytestmark = [needs_chromium, pytest.mark.slow]
DELAY_MS = 100
BUCKET = 0.08  # how far the page's quantile may be from the true one: local/live/quantiles.py


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """Opens a browser tab. Fails if its console has an error, such as a violation of the content policy."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    yield page
    page.close()
    assert complaints == []


class Sender:
    """Posts webhooks one after the other until it is stopped; `answers` has each status and duration in ms."""

    def __init__(self, client: httpx.Client, event: bytes) -> None:
        self.answers: list[tuple[int, float]] = []
        self._client, self._event = client, event
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._send)

    def _send(self) -> None:
        bodies = fresh_events(self._event, 10_000)
        while not self._stopped.is_set():
            began = time.perf_counter()
            status = self._client.post("/webhooks/chargebee", content=next(bodies)).status_code
            self.answers.append((status, (time.perf_counter() - began) * 1000))

    def __enter__(self) -> "Sender":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        self._thread.join()


def _shown(tab: Page) -> list[float]:
    """Waits for median and 99th percentile of webhooks and of calls, and returns these four in ms.

    A readout is a dash while nothing has happened, and when a scrape comes late.
    """
    readouts = tab.locator("#times figcaption b, #sqs figcaption b")
    deadline = time.monotonic() + 60
    while "–" in (texts := readouts.all_inner_texts()):
        assert time.monotonic() < deadline
        tab.wait_for_timeout(50)
    assert len(texts) == 4
    return [_milliseconds(text) for text in texts]


def _milliseconds(readout: str) -> float:
    """The number of "103 ms" or "1.2 s"."""
    number, unit = readout.split()
    return float(number) * {"ms": 1, "s": 1000}[unit]


def _rounding_ms(milliseconds: float) -> float:
    """How much a readout may differ from what it shows: "103 ms" has no decimal, and "1.2 s" has one."""
    return 1 if milliseconds < 1000 else 100


def test_another_sender_and_its_own_button(tab: Page, tmp_path: Path, event: bytes) -> None:
    """The times shown are between the queue's delay and the slowest answer; each sender's webhooks count apart."""
    with LocalRunProcess(tmp_path, max_wait=0) as web:
        tab.goto(web.wait_for("Live page on").split()[-1])
        tab.get_by_role("button", name=f"SQS slower by {DELAY_MS} ms").click()
        expect(tab.get_by_role("button", name=f"SQS slower by {DELAY_MS} ms")).to_have_attribute("aria-pressed", "true")
        with web.client(auth=("demo", "demo")) as client, Sender(client, event) as sender:
            shown = _shown(tab)
        statuses, took = zip(*sender.answers, strict=True)
        assert set(statuses) == {200}
        assert min(shown) >= (1 - BUCKET) * DELAY_MS - _rounding_ms(min(shown))
        assert max(shown) <= (1 + BUCKET) * max(took) + _rounding_ms(max(shown))
        expect(tab.locator(".totals")).to_have_text(f"{len(took)} queued since the service started")
        expect(tab.locator(".sent-here")).to_be_empty()
        tab.get_by_role("button", name="20 webhooks at once").click()
        expect(tab.locator(".sent-here")).to_contain_text("20 sent from this page: 20 answered 200;")
        expect(tab.locator(".totals")).to_have_text(f"{len(took) + 20} queued since the service started")
        tab.goto("about:blank")  # otherwise it would complain of the end
