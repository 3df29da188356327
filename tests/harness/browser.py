"""Runs headless Chromium for tests."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.harness.missing import CI

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
NO_BROWSER = "the page needs a browser (Debian: apt install chromium)"
needs_chromium = pytest.mark.skipif(CHROMIUM is None and not CI, reason=NO_BROWSER)
# The time-out of each `expect`, in ms. Playwright's default of five seconds is too short on a busy machine. Tests that
# click also set this time-out for clicks (`set_default_timeout`).
PATIENCE_MS = 60_000


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yields a browser that sends requests only to the hosts of the pages that a test opens."""
    quiet = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=quiet)
        yield opened
        opened.close()
