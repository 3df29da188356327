"""/docs and /openapi.json are disabled by default, and use no other host. Some tests use a real browser."""

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import httpx
import pytest
from playwright.sync_api import Browser, Page

from app.settings import WebSettings
from app.web.main import create_app
from loadtest.stage.queues import QueueProcess
from tests.harness.browser import PATIENCE_MS, chromium, needs_chromium
from tests.harness.commands import LocalRunProcess
from tests.harness.service import NO_CAS, PASSWORD, USER, Service, clean_environment

PAGES = ("/docs", "/docs/start.js", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/openapi.json")


@pytest.fixture(scope="module")
def service(aws: QueueProcess) -> Iterator[Service]:
    """Starts the service as in a deployment, with APP_DOCS=1."""
    with Service(aws.endpoint, f"{aws.endpoint}/000000000000/docs", docs=1) as service:
        yield service


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


def _open(browser: Browser, url: str) -> tuple[Page, list[str], list[str]]:
    """Opens a page. Returns the page, the addresses that it requests, and the messages on its console."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.goto(url)
    return page, asked, complaints


@pytest.mark.slow
@needs_chromium
def test_the_page_in_a_browser(browser: Browser, tmp_path: Path, event: bytes) -> None:
    """In a local run, the page sends a webhook that gets 200, and requests nothing from another host."""
    with LocalRunProcess(tmp_path) as web:
        page, asked, complaints = _open(browser, f"{web.url}/docs")
        post = page.locator(".opblock-post")
        post.locator(".opblock-summary-control").click()
        assert post.locator(".opblock-summary-path").inner_text().replace("\u200b", "") == "/webhooks/chargebee"
        page.locator("button.authorize").first.click()
        page.locator(".auth-container input[name=username]").fill("demo")
        page.locator(".auth-container input[name=password]").fill("demo")
        page.locator(".auth-container button.authorize").click()
        page.locator(".auth-container button.btn-done").click()
        post.get_by_role("button", name="Try it out").click()
        post.locator("textarea.body-param__text").fill(event.decode())
        post.get_by_role("button", name="Execute").click()
        answer = post.locator(".live-responses-table .response-col_description pre").first.inner_text()
        page.close()
    assert json.loads(answer) == {"status": "queued", "event_id": json.loads(event)["id"]}
    assert {f"{web.url}{path}" for path in PAGES} <= set(asked)
    assert [url for url in asked if not url.startswith((f"{web.url}/", "data:"))] == []
    assert complaints == []


@needs_chromium
def test_dark_mode(browser: Browser, service: Service) -> None:
    """The page has the browser's colour scheme, also after the browser changes it."""
    page, _, complaints = _open(browser, f"{service.url}/docs")
    page.locator(".opblock-post").wait_for()
    shown = []
    schemes: tuple[tuple[Literal["light", "dark"], str], ...] = (
        ("light", "html:not(.dark-mode)"),
        ("dark", "html.dark-mode"),
        ("light", "html:not(.dark-mode)"),
    )
    for scheme, selector in schemes:
        page.emulate_media(color_scheme=scheme)
        page.locator(selector).wait_for(state="attached")
        shown.append(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
    page.close()
    assert shown[1] == "rgb(28, 32, 34)"
    assert shown[0] == shown[2] != shown[1]
    assert complaints == []


@needs_chromium
def test_a_script_in_the_page_does_not_run(browser: Browser, service: Service) -> None:
    """The content policy blocks inline scripts, and scripts of other hosts."""
    page, *_ = _open(browser, f"{service.url}/docs")
    for script in ({"textContent": "document.title = 'inline'"}, {"src": "http://127.0.0.1:9/x.js"}):
        violated = page.evaluate(
            """properties => new Promise(resolve => {
                document.addEventListener('securitypolicyviolation', event => resolve(event.effectiveDirective))
                document.body.append(Object.assign(document.createElement('script'), properties))
            })""",
            script,
        )
        assert violated == "script-src-elem"
    assert page.title() == "invoice-webhook"
    page.close()


@pytest.mark.parametrize("path", PAGES[:-1])
def test_the_headers(service: Service, path: str) -> None:
    """The headers forbid MIME sniffing, frames, and scripts of other hosts. HEAD has the same headers as GET."""
    got = httpx.get(f"{service.url}{path}", verify=NO_CAS, timeout=60)
    assert got.status_code == 200
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["x-frame-options"] == "DENY"
    policy = dict(part.strip().split(" ", 1) for part in got.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    head = httpx.head(f"{service.url}{path}", timeout=60)
    assert head.status_code == 200
    assert {**head.headers, "date": ""} == {**got.headers, "date": ""}


def test_the_page_names_no_other_host(service: Service) -> None:
    """Our page and our script contain no URL with a host."""
    for path in PAGES[:2]:
        assert "//" not in httpx.get(f"{service.url}{path}", verify=NO_CAS, timeout=60).text


def test_off_unless_enabled(aws: QueueProcess, queue_url: str) -> None:
    """Without APP_DOCS, the page and the document get 404, as a problem."""
    with Service(aws.endpoint, queue_url) as service:
        answers = [httpx.get(f"{service.url}{path}", verify=NO_CAS, timeout=60) for path in PAGES]
    assert {(answer.status_code, answer.headers["content-type"]) for answer in answers} == {
        (404, "application/problem+json")
    }


@pytest.mark.slow
def test_off_in_a_local_run_when_disabled(tmp_path: Path) -> None:
    """APP_DOCS=0 overrides the default of a local run."""
    with LocalRunProcess(tmp_path, docs=0) as web:
        assert httpx.get(f"{web.url}/docs", verify=NO_CAS, timeout=60).status_code == 404


def test_without_its_package() -> None:
    """In the production image, APP_DOCS=1 prevents the start. One line names the missing package and the remedy."""
    hide = "import sys; sys.modules['fastapi_offline'] = None; from app.cli import main; sys.argv[1:] = ['web']; main()"
    settings = {
        "port": 0,
        "docs": 1,
        "sqs_queue_url": "http://127.0.0.1:9/0/q",
        "basic_auth_username": USER,
        "basic_auth_password": PASSWORD,
    }
    environment = clean_environment(**settings) | {"AWS_DEFAULT_REGION": "us-east-1"}
    ended = subprocess.run(
        [sys.executable, "-c", hide], env=environment, capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    assert ended.returncode == 2
    assert ended.stderr == (
        "error: APP_DOCS=1 needs Swagger UI, which is not installed: set APP_DOCS=0, or install fastapi-offline"
        " (dependency group `local`, locks/local.lock)\n"
    )


def test_the_document(service: Service) -> None:
    """The document has every status of the contract and unique operation ids. The app generates the same document."""
    document = httpx.get(f"{service.url}/openapi.json", verify=NO_CAS, timeout=60).json()
    assert set(document["paths"]) == {"/healthz", "/readyz", "/webhooks/chargebee"}
    assert set(document["paths"]["/webhooks/chargebee"]["post"]["responses"]) == {
        *("200", "401", "408", "413", "415", "422", "503")
    }
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # FastAPI warns of ids that occur twice
        assert create_app(WebSettings()).openapi() == document
