"""The documentation site as a reader gets it: each link followed, and its pages in a browser."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from docs_site.pages import CHANGELOG, target_of
from tests.harness.browser import chromium, needs_chromium

ROOT = Path(__file__).parents[2]
PHONE = 375
REPOSITORY = "https://a.example/b"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the overridden one's name
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the site, which fails if a link is broken."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(ROOT / ".ci" / "docs.py"), "--folder", str(folder), "--repository", REPOSITORY]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode == 0, ended.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@needs_chromium
def test_every_markdown_file_is_a_page(site: Path, address: str, browser: Browser) -> None:
    """Each Markdown file has a page, the changelog one for each chapter. On a phone, wide tables scroll within it."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    ).stdout
    targets = {target_of(name) for name in listed.split() if name != CHANGELOG} | {"course/v01_inline.md"}
    assert [target for target in targets if not (site / target).with_suffix(".html").is_file()] == []
    page = browser.new_page(viewport={"width": PHONE, "height": 812})
    pages = [path.relative_to(site) for path in site.rglob("*.html") if "results" not in path.relative_to(site).parts]
    assert [name for name in pages if _width(page, f"{address}/{name}") > PHONE] == []


def _width(page: Page, address: str) -> int:
    page.goto(address)
    width: int = page.evaluate("document.documentElement.scrollWidth")
    return width


@needs_chromium
def test_a_reader(address: str, browser: Browser) -> None:
    """No request leaves the site. Pictures follow the theme. Links lead to the repository, and between chapters."""
    page = browser.new_page(color_scheme="dark")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/index.html")
    expect(page.locator(f"a[href='{REPOSITORY}/issues']")).to_be_visible()
    pictures = {name: page.locator(f"a.only-{name} img").first for name in ("light", "dark")}
    expect(pictures["dark"]).to_be_visible()
    expect(pictures["light"]).to_be_hidden()
    page.locator(".theme-toggle:visible").first.click()
    expect(pictures["light"]).to_be_visible()
    scheme = "getComputedStyle(document.querySelector('article img')).colorScheme"
    assert page.evaluate(scheme) == page.evaluate("document.body.dataset.theme") == "light"
    page.get_by_placeholder("Search").fill("SendMessageBatch")
    page.get_by_placeholder("Search").press("Enter")
    expect(page.locator("#search-results a", has_text="v09_group_commit").first).to_be_visible()
    assert {url for url in asked if not url.startswith((address, "data:"))} == set()
    page.goto(f"{address}/course/v02_blocking.html")
    neighbours = [link.get_attribute("href") for link in page.locator(".related-pages a").all()]
    assert neighbours == ["v03_threadpool.html", "v01_inline.html"]
