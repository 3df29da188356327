"""Tests the server-sent events for new and returning viewers."""

from collections.abc import Callable
from itertools import islice

from tests.local.live.pretended import Pretended
from tests.local.live.viewer import viewing


def test_a_viewer_who_comes_late_gets_what_was(url: str) -> None:
    """A new viewer gets all stored moments with ascending ids, then each new one."""
    with viewing(url) as events:
        early = list(islice(events, 4))
    with viewing(url) as events:
        late = list(islice(events, 6))
    assert late[:4] == early
    assert [event.id.partition("-")[2] for event in late] == ["1", "2", "3", "4", "5", "6"]


def test_a_viewer_who_comes_back(url: str) -> None:
    """A returning viewer continues after its last event, without repeats or gaps."""
    with viewing(url) as events:
        seen = list(islice(events, 3))
    with viewing(url, last=seen[1].id) as events:
        assert next(events) == seen[2]


def test_a_viewer_of_an_earlier_process(page_of: Callable[..., str], service: Pretended) -> None:
    """A viewer of an earlier process has to reload, because its charts may be of another release."""
    with viewing(page_of(service)) as events:
        old = next(events).id
    with viewing(page_of(service), last=old) as events:
        assert [event.kind for event in events] == ["restarted"]


def test_a_moment(url: str, service: Pretended) -> None:
    """A moment has the service's counts, the duration of its probe, and the latency of its queue."""
    with viewing(url) as events:
        # Figures are of what happened between two scrapes: there has to be one from before.
        next(event for event in events if "in_flight" in event.moment["services"][0])
        for _ in range(10):
            service.take(b"")
        moment = next(
            event.moment for event in events if event.moment["services"][0].get("totals") == {"queued": {"queued": 10}}
        )
    (shown,) = moment["services"]
    assert shown["p50"] > 10
    assert moment["delay"] == 0


def test_a_service_that_does_not_answer(url: str, service: Pretended) -> None:
    """The probe times out after a second, until the service answers again; the metrics stay available."""
    with viewing(url) as events:
        next(event for event in events if not event.moment["services"][0]["timed_out"])
        service.answering.clear()
        shown = (event.moment["services"][0] for event in events)
        moment = next(one for one in shown if one["timed_out"] and "in_flight" in one)
        assert moment["probe"] >= 990  # a time-out of 1 s, on two clocks
        service.answering.set()
        assert next(event for event in events if not event.moment["services"][0]["timed_out"])
