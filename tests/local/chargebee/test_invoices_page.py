"""Tests the stand-in's page in headless Chromium: its contents, keyboard use, and screen readers' texts."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest
from playwright.sync_api import Browser, Page, expect

from local.chargebee.behaviour import API_KEY
from local.chargebee.start import ChargebeeApi, start
from tests.harness.browser import PATIENCE_MS, chromium, needs_chromium
from tests.local.chargebee.in_process import invoice

pytestmark = needs_chromium
CUSTOMER = '<img src=x onerror="document.title=1">'


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def api() -> Iterator[ChargebeeApi]:
    with start(rate=6) as started:
        put(started, "invoices", [invoice(1), invoice(2, customer_id=CUSTOMER), invoice(3, currency_code="JPY")])
        yield started


@pytest.fixture
def page(browser: Browser, api: ChargebeeApi) -> Iterator[Page]:
    """Fails if the page has an error, or sends a request to another server."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    ours = (api.url, "data:")
    opened.on("request", lambda request: None if request.url.startswith(ours) else complaints.append(request.url))
    opened.goto(api.url)
    yield opened
    context.close()
    assert complaints == []


def put(api: ChargebeeApi, path: str, content: object) -> None:
    httpx.put(f"{api.url}/_/{path}", content=orjson.dumps(content), timeout=60).raise_for_status()


def post(api: ChargebeeApi, path: str, **params: Any) -> int:
    return httpx.post(f"{api.url}/api/v2/invoices/{path}", data=params, auth=(API_KEY, ""), timeout=60).status_code


def test_an_invoice_as_it_closes(page: Page, api: ChargebeeApi) -> None:
    """Row and numbers change from pending to being charged and closed, without a reload."""
    row = page.get_by_role("row").filter(has_text="draft_inv_1")
    expect(row).to_contain_text("pending")
    expect(page.locator("#pending")).to_have_text("3")
    post(api, "draft_inv_1/add_charge", amount="1234", description="x")
    expect(row).to_contain_text("being charged")
    expect(page.locator("#charging")).to_have_text("1")
    expect(page.get_by_role("row").nth(1)).to_contain_text("draft_inv_1")  # the one that changed last
    post(api, "draft_inv_1/close")
    expect(row).to_contain_text("closed (payment due)")
    expect(row.get_by_role("cell").nth(5)).to_have_text(re.compile(r"^\d\d:\d\d:\d\d$"))
    expect(page.locator("#closed")).to_have_text("1")


def test_an_invoice_that_is_void(page: Page, api: ChargebeeApi) -> None:
    """Voided and deleted invoices are listed as such, and are no longer counted as closed."""
    post(api, "draft_inv_1/delete")
    expect(page.get_by_role("row").filter(has_text="draft_inv_1")).to_contain_text("deleted")
    post(api, "draft_inv_2/close")
    post(api, "1/void")
    expect(page.get_by_role("row").filter(has_text="draft_inv_2")).to_contain_text("voided")
    expect(page.locator("#void")).to_have_text("2")
    expect(page.locator("#closed")).to_have_text("0")


def test_calls_against_the_limit(page: Page, api: ChargebeeApi) -> None:
    """The page shows the calls of the last minute and the 429 answers, also in words."""
    statuses = [post(api, "draft_inv_1/add_charge", amount="1", description="x") for _ in range(8)]
    assert statuses.count(429) == 2
    expect(page.locator("#calls")).to_have_text("6 of 6 calls in the last minute; 2 answered 429")
    expect(page.get_by_role("meter")).to_have_attribute("aria-labelledby", "calls")
    assert page.get_by_role("meter").evaluate("meter => [meter.value, meter.max]") == [6, 6]
    assert page.locator("#chart .rejected").count() > 0
    expect(page.locator("#summary")).to_contain_text("pending. ")


def test_amounts_and_names(page: Page) -> None:
    """Amounts are in the currency's own units, and a customer's id is not interpreted as HTML."""
    expect(page.get_by_role("row").filter(has_text="draft_inv_3")).to_contain_text("JPY")
    expect(page.get_by_role("row").filter(has_text="draft_inv_2")).to_contain_text(CUSTOMER)
    expect(page).to_have_title("Invoices at the Chargebee stand-in")


def test_by_keyboard(page: Page, api: ChargebeeApi) -> None:
    """The filters are buttons that tell screen readers whether they are pressed."""
    post(api, "draft_inv_1/close")
    expect(page.get_by_role("button", name="Closed 1")).to_be_visible()
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Closed 1")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("row")).to_have_count(2)  # with the headings
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Being charged 0")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#more")).to_have_text("No invoice is being charged.")


@pytest.mark.parametrize(("width", "scheme"), [(375, "dark"), (1200, "light")])
def test_nothing_is_cut_off(browser: Browser, api: ChargebeeApi, scheme: Any, width: int) -> None:
    """The page never scrolls sideways, and its colours follow the system."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    opened = context.new_page()
    opened.goto(api.url)
    expect(opened.get_by_role("row").filter(has_text="draft_inv_2")).to_be_visible()
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    dark = opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"
    assert dark == (scheme == "dark")
    context.close()


def test_it_says_when_the_stand_in_is_gone(browser: Browser) -> None:
    """If the stand-in has ended, the page keeps the last known state and says so."""
    with start() as api:
        put(api, "invoices", [invoice(1)])
        context = browser.new_context()
        opened = context.new_page()
        opened.goto(api.url)
        expect(opened.get_by_role("row").filter(has_text="draft_inv_1")).to_be_visible()
    expect(opened.locator("#source")).to_contain_text("does not answer")
    expect(opened.get_by_role("row").filter(has_text="draft_inv_1")).to_be_visible()
    context.close()
