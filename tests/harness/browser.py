"""Headless Chromium."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="the page needs a browser (Debian: apt install chromium)")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Asks no host but those of its pages."""
    quiet = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=quiet)
        yield opened
        opened.close()
