"""Builds the live page as one HTML document that contains the markup, style sheets, scripts and data."""

import base64
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from local.live.buttons import DELAYS_MS, LOAD_BUTTONS
from local.live.page_config import ShownService, takes_webhooks

_FILES = Path(__file__).parent / "page"
_STYLES = ("uPlot.min.css", "layout.css", "charts.css")
_UPLOT = "uPlot.iife.min.js"
_SCRIPTS = ("charts.js", "numbers.js", "draw.js", "elements.js", "words.js", "start.js")


def live(services: list[ShownService]) -> str:
    """Returns the live page, which fetches its figures from the server."""
    return _document(services, {"saved": None, "moments": []})


def saved(services: list[ShownService], moments: Iterable[str], when: str) -> str:
    """Returns a copy of the page that contains the figures. A browser can open the copy later without a server.

    Each of `moments` is JSON text with the figures of one moment. The copy shows `when` as the time of saving.
    """
    return _document(services, {"saved": when, "moments": [json.loads(moment) for moment in moments]})


def policy(*, connecting: bool) -> str:
    """Returns the Content-Security-Policy, which allows only the document's own scripts and style sheets.

    The policy identifies scripts and style sheets by hash. If `connecting` is true, the page may send requests to its
    server.
    """
    connect = "'self'" if connecting else "'none'"
    return (
        f"default-src 'none'; script-src {_hashes(_scripts())}; style-src {_hashes(_styles())};"
        f" img-src data:; connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def _document(services: list[ShownService], data: dict[str, object]) -> str:
    with_buttons = takes_webhooks(services)
    data |= {
        "services": [service.shown() for service in services],
        "loads": {name: load.label for name, load in LOAD_BUTTONS.items()} if with_buttons else {},
        "delays": DELAYS_MS if with_buttons else (),
    }
    parts = {
        "POLICY": policy(connecting=not data["saved"]),
        "STYLES": "\n".join(f"<style>{text}</style>" for text in _styles()),
        # Escapes `<` in the data, because the text `</script>` would end the script element that contains the data.
        "DATA": json.dumps(data).replace("<", "\\u003c"),
        "SCRIPTS": "\n".join(f"<script>{text}</script>" for text in _scripts()),
    }
    document = _text("page.html")
    for name, part in parts.items():
        document = document.replace(f"<!--{name}-->", part, 1)
    return document


@cache
def _text(name: str) -> str:
    return (_FILES / name).read_text(encoding="utf-8")


def _styles() -> list[str]:
    return [_text(name) for name in _STYLES]


def _scripts() -> list[str]:
    """Returns two scripts: the library uPlot, and the page's own scripts inside one function.

    Inside a function, the names in the page's scripts do not become global names.
    """
    own = "\n".join(_text(name) for name in _SCRIPTS)
    return [_text(_UPLOT), f'(() => {{\n"use strict"\n{own}}})()\n']


def _hashes(texts: list[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
