"""Tests the buttons without a browser."""

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
    """The button sends twenty webhooks at once, each with its own event id, and the same ones to the other service."""
    with Pretended("v02_blocking") as other:
        assert _press(page_of(service, other), "send/burst") == 202
        for each in (service, other):
            each.wait_for(20)
        assert len(set(service.webhooks)) == 20
        assert sorted(service.webhooks) == sorted(other.webhooks)


def test_one_attack_at_a_time(url: str, service: Pretended) -> None:
    """A second press is rejected while the first still sends; the moments have the presses and the number sent."""
    assert _press(url, "send/rate") == 202
    service.wait_for(1)
    assert _press(url, "send/rate") == 409
    with viewing(url) as events:
        moments = (event.moment for event in events)
        assert next(one["pressed"] for one in moments if one["pressed"]) == ["500/s"]
    with viewing(url) as events:
        assert 0 < next(own["sent"] for event in events if (own := event.moment["sent_here"][0])["sent"]) <= 2500


def test_only_its_own_webhooks(url: str, service: Pretended) -> None:
    """The page counts only the answers to its own webhooks."""
    for _ in range(5):
        service.take(b"")
    assert _press(url, "send/burst") == 202
    with viewing(url) as events:
        own = (event.moment["sent_here"][0] for event in events)
        counted = next(one for one in own if one["answers"].get("200") == 20)
    assert (counted["sent"], counted["answers"]) == (20, {"200": 20})


def test_the_time_of_the_sender(url: str, service: Pretended) -> None:
    """The sender's time has the wait before the service's own time begins; without a webhook there is no time."""
    service.accept_after = 0.2
    with viewing(url) as events:
        assert not {"sender_p50", "sender_p99"} & next(events).moment["services"][0].keys()
        assert _press(url, "send/burst") == 202
        moments = (event.moment for event in events)
        assert next(one for one in moments if "sender_p50" in one["services"][0])["services"][0]["sender_p50"] > 180
        assert next(one for one in moments if sum(one["sent_here"][0]["answers"].values()) == 20)


def test_the_latency_of_sqs(url: str, service: Pretended) -> None:
    """The queue gets the latency in seconds, and every viewer sees the chosen one."""
    assert _press(url, "delay/100") == 204
    assert service.delay == 0.1
    with viewing(url) as events:
        assert next(event.moment for event in events if event.moment["pressed"])["delay"] == 100


def test_a_queue_that_is_gone() -> None:
    """The button reports that the queue did not answer; the page keeps running."""
    with refusing() as port, start() as page:
        gone = f"http://127.0.0.1:{port}"
        page.show(PageConfig([ShownService("gone", "", "", gone, sqs=f"{gone}/_delay")]))
        url = page.url()
        assert url is not None
        assert _press(url, "delay/8") == 502
        with viewing(url) as events:
            assert next(event.moment for event in events if event.moment["services"][0]["timed_out"])["delay"] == 0


def test_what_is_no_button(url: str) -> None:
    """Other loads and latencies get 404, so a request cannot send a million webhooks."""
    for path in ("send/million", "delay/31536000", "delay/-1"):
        assert _press(url, path) == 404
