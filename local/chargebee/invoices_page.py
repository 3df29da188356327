"""Serves the stand-in's web page (`GET /`) and the page's server-sent events (`GET /stream`).

The page shows which invoices are closed, and how much of the rate limit the calls use.
"""

import asyncio
import base64
import hashlib
import re
from collections.abc import AsyncIterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import orjson
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from local.chargebee.api import Api

_DOCUMENT = Path(__file__).with_name("invoices_page.html")
_SECONDS = 0.5
_RECONNECT_MS = 1000
# The maximum number of invoices in one event of the stream. If more invoices have changed, the event contains only the
# invoices that changed last.
_MOST_CHANGED = 500


class Page:
    """Handles the requests for the page and for the stream. `routes()` lists the two paths."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._html = _DOCUMENT.read_text(encoding="utf-8")
        self._headers = {
            "Content-Security-Policy": _policy(self._html),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }

    def routes(self) -> list[Route]:
        return [Route("/", self._page), Route("/stream", self._stream)]

    async def _page(self, request: Request) -> Response:
        return HTMLResponse(self._html, headers=self._headers)

    async def _stream(self, request: Request) -> Response:
        return EventSourceResponse(self._moments())

    async def _moments(self) -> AsyncIterator[ServerSentEvent]:
        yield ServerSentEvent(comment="the stand-in's invoices", retry=_RECONNECT_MS)
        seen = 0
        while True:
            revision = self._api.site.revision
            yield ServerSentEvent(data=orjson.dumps(self.moment(seen)).decode())
            seen = revision
            await asyncio.sleep(_SECONDS)

    def moment(self, seen: int) -> dict[str, Any]:
        """Returns the data of one event of the stream.

        The data are the number of calls, the number of invoices, and a summary of each invoice that has changed since
        revision `seen` of the site. If `seen` is 0, all invoices count as changed.
        """
        api, now = self._api, self._api.clock()
        taken, refused = api.calls.each_second(now)
        changed = [*takewhile(lambda invoice: invoice.revision > seen, reversed(api.site.invoices.values()))]
        return {
            "t": now,
            "first": seen == 0,
            "limit": api.limit.rate,
            "used": api.limit.used(now),
            "refused": sum(refused),
            "taken_each": taken,
            "refused_each": refused,
            "counts": api.site.counts(),
            "changed": [invoice.summary() for invoice in reversed(changed[:_MOST_CHANGED])],
        }


def _policy(html: str) -> str:
    """Returns a Content-Security-Policy that allows only the scripts and style sheets in `html`."""
    return (
        f"default-src 'none'; script-src {_hashes('script', html)}; style-src {_hashes('style', html)}; img-src data:;"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _hashes(tag: str, html: str) -> str:
    texts = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
