"""The buttons, without a browser."""

from collections.abc import Callable

import httpx

from local.live.page_config import PageConfig, ShownService
from local.live.start import start
from tests.harness.ports import refusing
from tests.local.live.pretended import Pretended
from tests.local.live.viewer import viewing


def _press(url: str, path: str) -> int:
    return httpx.post(f"{url}/{path}", headers={"Origin": url}, timeout=60).status_code


def test_the_same_webhooks_to_both(page_of: Callable[..., str], service: Pretended) -> None:
    """Twenty at once, each with an event id of its own, and the same to the other service."""
    with Pretended("v02_blocking") as other:
        assert _press(page_of(service, other), "send/burst") == 202
        for each in (service, other):
            each.wait_for(20)
        assert len(set(service.webhooks)) == 20
        assert sorted(service.webhooks) == sorted(other.webhooks)


def test_one_attack_at_a_time(url: str, service: Pretended) -> None:
    """While it sends at a rate, a second press is refused; the moments say what was pressed and how many were sent."""
    assert _press(url, "send/rate") == 202
    service.wait_for(1)
    assert _press(url, "send/rate") == 409
    with viewing(url) as events:
        moments = (event.moment for event in events)
        assert next(one["pressed"] for one in moments if one["pressed"]) == ["500/s"]
    with viewing(url) as events:
        assert 0 < next(own["sent"] for event in events if (own := event.moment["sent_here"][0])["sent"]) <= 2500


def test_only_its_own_webhooks(url: str, service: Pretended) -> None:
    """The page counts the answers to what it has sent itself, and no webhook of another sender."""
    for _ in range(5):
        service.take(b"")
    assert _press(url, "send/burst") == 202
    with viewing(url) as events:
        own = (event.moment["sent_here"][0] for event in events)
        assert next(one for one in own if one["answers"].get("200") == 20) == {"sent": 20, "answers": {"200": 20}}


def test_the_latency_of_sqs(url: str, service: Pretended) -> None:
    """The queue is told in seconds, and every viewer sees which one is chosen."""
    assert _press(url, "delay/100") == 204
    assert service.delay == 0.1
    with viewing(url) as events:
        assert next(event.moment for event in events if event.moment["pressed"])["delay"] == 100


def test_a_queue_that_is_gone() -> None:
    """The button says so; the page goes on."""
    with refusing() as port, start() as page:
        gone = f"http://127.0.0.1:{port}"
        page.show(PageConfig([ShownService("gone", "", "", gone, sqs=f"{gone}/_delay")]))
        url = page.url()
        assert url is not None
        assert _press(url, "delay/8") == 502
        with viewing(url) as events:
            assert next(event.moment for event in events if event.moment["services"][0]["timed_out"])["delay"] == 0


def test_what_is_no_button(url: str) -> None:
    """404, so that nobody sends a million, or sets a latency of a year."""
    for path in ("send/million", "delay/31536000", "delay/-1"):
        assert _press(url, path) == 404
