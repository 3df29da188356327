"""Tests the page in a real browser."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from local.chargebee.start import start as start_chargebee
from tests.harness.browser import needs_chromium
from tests.harness.commands import LocalRunProcess
from tests.local.live.pretended import Pretended

pytestmark = needs_chromium
DRAWN = """plot => plot.getContext('2d').getImageData(0, 0, plot.width, plot.height).data.some(value => value)"""


def _wait_for_drawing(tab: Page) -> None:
    expect(tab.locator("#probe figcaption b").first).to_contain_text("s")


def test_it_draws(tab: Page, url: str, service: Pretended) -> None:
    """The page shows release, lesson and ten charts; the button works; no other host gets a request."""
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(url)
    expect(tab.get_by_role("heading", name=service.name)).to_be_visible()
    _wait_for_drawing(tab)
    tab.get_by_role("button", name="20 webhooks at once").click()
    service.wait_for(20)
    expect(tab.locator(".totals")).to_contain_text("20 queued since the service started")
    expect(tab.locator(".sent-here")).to_contain_text("20 sent from this page: 20 answered 200")
    assert tab.locator("canvas").count() == 10
    assert tab.locator("#answers canvas").evaluate(DRAWN)
    assert [address for address in asked if not address.startswith((f"{url}/", "data:"))] == []


def test_code_keeps_its_case(tab: Page, page_of: Callable[..., str], service: Pretended) -> None:
    """A change that begins with code is shown as it is written, because names in code have a case."""
    service.change = "`await send(…)` waits."
    tab.goto(page_of(service))
    expect(tab.locator(".change")).to_have_text("The change: await send(…) waits.")
    expect(tab.locator(".change code")).to_have_text("await send(…)")
    transform = "text => getComputedStyle(text, '::first-letter').textTransform"
    assert tab.locator(".change").evaluate(transform) == "none"


def test_why_webhooks_wait(tab: Page, page_of: Callable[..., str], service: Pretended) -> None:
    """Between the release's cost and its state, the page says why webhooks wait, if the release has such a reason."""
    with Pretended("v03_threadpool") as other:
        other.waits = "a reason."
        tab.goto(page_of(service, other))
        both = [
            *zip(tab.locator(".waits").all_inner_texts(), tab.locator(".cost + .waits + .state").all(), strict=True)
        ]
    assert [text for text, _ in both] == ["", "Why webhooks wait although nothing blocks the event loop: a reason."]


def test_the_latency_is_shown_as_pressed(tab: Page, url: str, service: Pretended) -> None:
    """The buttons work by keyboard: the focus is visible, and Space presses."""
    tab.goto(url)
    button = tab.get_by_role("button", name="SQS slower by 500 ms")
    button.focus()
    tab.keyboard.press("Space")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(tab.get_by_role("button", name="SQS slower by 0 ms")).to_have_attribute("aria-pressed", "false")
    assert button.evaluate("button => getComputedStyle(button).outlineStyle") == "solid"
    assert service.delay == 0.5


def test_the_same_in_words(tab: Page, url: str, service: Pretended) -> None:
    """Each chart has a text, a change of state is announced, and all figures are in a table."""
    tab.goto(url)
    _wait_for_drawing(tab)
    expect(tab.get_by_role("img", name=f"{service.name}, In flight: in flight 0")).to_be_visible()
    expect(tab.locator("[aria-live]")).to_contain_text(f"{service.name} answers in")
    tab.get_by_text(f"{service.name} as a table").click()
    row = tab.get_by_role("row", name="In flight: in flight")
    expect(row.get_by_role("cell").first).to_have_text("0")
    service.answering.clear()
    expect(tab.locator("[aria-live]")).to_contain_text("no answer")


def test_the_response_time_at_the_sender(tab: Page, url: str, service: Pretended) -> None:
    """The service's time is after accept; the sender's stands beside it, in words until somebody has sent webhooks."""
    tab.goto(url)
    expect(tab.locator("#times h3")).to_have_text("Service’s response time after accept; log scale")
    expect(tab.locator("#times + #sender h3")).to_contain_text("Sender’s response time")
    expect(tab.locator("#sender .unsent")).to_have_text("Nobody has sent webhooks from this page.")
    expect(tab.locator("#sender figcaption b").first).to_be_hidden()
    expect(tab.get_by_role("img", name="Sender’s response time: Nobody has sent webhooks")).to_be_visible()
    tab.get_by_role("button", name="20 webhooks at once").click()
    expect(tab.locator("#sender .unsent")).to_be_hidden()
    expect(tab.locator("#sender figcaption b").first).to_be_visible()
    times = r"sender’s response time [\d.]+ m?s \(median\) and [\d.]+ m?s \(99th percentile\)"
    expect(tab.locator(".sent-here")).to_have_text(re.compile(f"20 answered 200; {times}$"))


def test_the_link_to_the_invoices(tab: Page, page_of: Callable[..., str], service: Pretended) -> None:
    """The page links to the stand-in's page, which opens in the browser and shows the invoices of the webhooks."""
    with start_chargebee() as api:
        service.chargebee = api.url
        tab.goto(page_of(service))
        tab.get_by_role("button", name="20 webhooks at once").click()
        with tab.expect_popup() as opened:
            tab.get_by_role("link", name="Invoices").click()
        invoices = opened.value
        expect(invoices.get_by_role("heading", name="Invoices at the Chargebee stand-in")).to_be_visible()
        expect(invoices.locator("#pending")).to_have_text("20")
        invoices.close()


def test_two_columns_have_the_same_axis(tab: Page, page_of: Callable[..., str], service: Pretended) -> None:
    """Two services have charts side by side with one scale, or below each other on a narrow screen."""
    with Pretended("v02_blocking") as other:
        tab.goto(page_of(service, other))
        _wait_for_drawing(tab)
        left, right = (plot.bounding_box() for plot in tab.locator("#flight canvas").all())
        assert left is not None
        assert right is not None
        assert (left["y"], left["width"], left["height"]) == (right["y"], right["width"], right["height"])
        tab.set_viewport_size({"width": 375, "height": 800})
        expect(tab.locator("#flight .who").first).to_be_visible()
        assert tab.evaluate("document.documentElement.scrollWidth") == 375


def test_save(tab: Page, browser: Browser, page_of: Callable[..., str], service: Pretended, tmp_path: Path) -> None:
    """The saved file opens from the disk, draws its data, and sends no request; the stand-in's link is not in it."""
    service.chargebee = "http://127.0.0.1:9"
    tab.goto(page_of(service))
    expect(tab.get_by_role("link", name="Invoices")).to_have_attribute("href", service.chargebee)
    tab.get_by_role("button", name="20 webhooks at once").click()
    expect(tab.locator(".totals")).to_contain_text("20 queued")
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Save").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name.startswith(f"live-{service.name}-")
    opened = browser.new_page()
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(file.as_uri())
    expect(opened.locator(".totals")).to_contain_text("20 queued")
    expect(opened.locator("#source")).to_contain_text("saved on")
    expect(opened.get_by_role("button")).to_have_count(0)
    assert opened.locator("#answers canvas").evaluate(DRAWN)
    assert [address for address in asked if not address.startswith(("data:", file.as_uri()))] == []
    expect(opened.get_by_role("link", name="Invoices")).to_have_count(0)
    opened.close()


@pytest.mark.slow
def test_a_stopped_run(browser: Browser, page_of: Callable[..., str], tmp_path: Path) -> None:
    """An open page says that its process has ended."""
    with LocalRunProcess(tmp_path, drain_delay=0) as web:
        page = browser.new_page()
        page.goto(web.wait_for("Live page on").split()[-1])
        _wait_for_drawing(page)
        web.stop()
        expect(page.locator("#source")).to_contain_text("does not answer")
        page.close()


@pytest.mark.slow
def test_a_blocked_release(tab: Page, tmp_path: Path) -> None:
    """After twenty webhooks to v02 on a slow queue, the page shows that v02 does not answer, while its metrics do."""
    with LocalRunProcess(tmp_path, release="v02_blocking", local_sqs_delay=0.5) as web:
        url = web.wait_for("Live page on").split()[-1]
        tab.goto(url)
        expect(tab.locator(".health")).to_contain_text("answers in")
        tab.get_by_role("button", name="20 webhooks at once").click()
        expect(tab.locator(".no-answer .health")).to_contain_text("no answer for")
        expect(tab.locator(".totals")).to_contain_text("20 queued")
        expect(tab.locator(".health")).to_contain_text("answers in")
        tab.goto("about:blank")  # otherwise it would complain of the end
