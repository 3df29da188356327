"""Tests scrapes that come late."""

from collections.abc import Iterator

import aiohttp
import pytest

from local.live.exposition import Scrape
from local.live.scraper import Scraper


def _scrape(taken: float, webhooks: float) -> Scrape:
    return Scrape(taken, {"invoice_webhook_webhooks_total": [({"outcome": "queued"}, webhooks)]})


@pytest.mark.anyio
async def test_rates_are_of_about_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A late scrape does not change the rate of 100 per second."""
    taken = [0, 0.5, 1, 1.99, 2, 2.5, 3]
    scrapes: Iterator[Scrape] = iter([_scrape(at, 100 * at) for at in taken])
    async with aiohttp.ClientSession() as session:
        one = Scraper("http://127.0.0.1:9/metrics", session)

        async def next_one(url: str) -> Scrape:
            return next(scrapes)

        monkeypatch.setattr(one, "_scrape", next_one)
        rates = [(await one.values()).get("queued") for _ in taken]
    assert rates[:2] == [None, None]
    assert rates[2:] == pytest.approx([100] * 5)


@pytest.mark.anyio
async def test_a_service_without_metrics() -> None:
    """A service without metrics, or one that does not answer the scrape, has no figures."""
    async with aiohttp.ClientSession() as session:
        assert await Scraper(None, session).values() == {}
        assert await Scraper("http://127.0.0.1:9/metrics", session).values() == {}
