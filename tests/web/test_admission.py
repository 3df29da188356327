"""Admission by the time for which a new webhook would wait, with a simulated clock."""

from collections import deque

import pytest

from app.settings import WebSettings
from app.web import admission
from app.web.admission import Admission, Permit


class Service:
    """A simulated service: webhooks arrive, wait in line, and are answered. `now`: the clock, in seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **settings: object) -> None:
        self.now = 0.0
        self.waiting: deque[Permit] = deque()
        self._admission = Admission(WebSettings.model_validate({"max_wait": 5, "max_in_flight": 100_000, **settings}))
        monkeypatch.setattr(admission, "monotonic", lambda: self.now)

    def comes(self, number: int) -> int:
        """Lets `number` webhooks arrive now, and returns how many are admitted."""
        before = len(self.waiting)
        for _ in range(number):
            if self._admission.overload() is None:
                permit = self._admission.enter()
                permit.receive(0, more=False)
                self.waiting.append(permit)
        return len(self.waiting) - before

    def answers(self, number: int) -> None:
        """Answers the `number` webhooks that have waited longest."""
        for _ in range(min(number, len(self.waiting))):
            self.waiting.popleft().release()


@pytest.mark.parametrize("factor", [2, 3, 5])
def test_no_webhook_waits_much_longer_than_the_bound(monkeypatch: pytest.MonkeyPatch, factor: int) -> None:
    """At any overload (the capacity is 100/s), the line is about as long as the number of answers in APP_MAX_WAIT."""
    service = Service(monkeypatch)
    longest = 0
    for _ in range(600):
        service.now += 0.1
        service.answers(10)
        service.comes(10 * factor)
        longest = max(longest, len(service.waiting))
    assert 400 <= longest <= 600
    assert len(service.waiting) >= 400  # enough to keep the service busy


def test_a_burst_is_admitted_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a pause, the rate of answers is unknown, so no webhook is rejected."""
    service = Service(monkeypatch)
    assert service.comes(2000) == 2000
    service.now += 0.5
    assert service.comes(100) == 100


def test_sufficient_capacity_refuses_no_webhook(monkeypatch: pytest.MonkeyPatch) -> None:
    """If as many webhooks are answered as arrive, all are admitted, even if each waits for four seconds."""
    service = Service(monkeypatch)
    service.comes(400)
    for _ in range(100):
        service.now += 0.1
        service.answers(10)
        assert service.comes(10) == 10


def test_one_that_hangs_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """One call that gets no response does not reject webhooks while other calls get responses."""
    service = Service(monkeypatch)
    service.comes(1)
    hanging = service.waiting.popleft()
    for _ in range(100):
        service.now += 0.1
        assert service.comes(10) == 10
        service.answers(10)
    hanging.release()


def test_a_pause_rejects_no_webhook(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQS pauses three times, longer than the observation time. Webhooks are admitted during and after each pause."""
    service = Service(monkeypatch)
    for pause in (1.2, 2, 4):
        for until, answers in ((5.0, 2), (pause, 0), (5.0, 20)):  # 200/s arrive, and 2,000/s can be answered
            for _ in range(round(until / 0.01)):
                service.now += 0.01
                assert service.comes(2) == 2
                service.answers(min(answers, len(service.waiting) - 2))


@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("before", [0, 10], ids=["cold", "busy"])
def test_a_slow_queue_seems_to_pause_once(monkeypatch: pytest.MonkeyPatch, before: float, factor: int) -> None:
    """SQS answers forty webhooks every two seconds. After 30 s, at most the bound and the webhooks of one call wait."""
    service = Service(monkeypatch)
    for tick in range(round(100 * (before + 120))):
        service.now = tick / 100
        if service.now < before:
            service.answers(len(service.waiting))
        elif tick % 200 == 0:
            service.answers(40)
        service.comes(factor if tick % 5 == 0 else 0)
        if service.now > before + 30:
            assert len(service.waiting) <= 20 * 5 + 40  # the bound, and the webhooks of one call


def test_nothing_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """If nothing is answered, the waiting time of the oldest webhook decides."""
    service = Service(monkeypatch)
    service.comes(10)
    service.now = 4.9
    assert service.comes(10) == 10
    service.now = 5.1
    assert service.comes(10) == 0
    service.answers(20)
    assert service.comes(10) == 10


def test_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """With APP_MAX_WAIT=0, webhooks are admitted even if others have waited for any length of time."""
    service = Service(monkeypatch, max_wait=0)
    service.comes(10)
    service.now = 1000
    assert service.comes(10) == 10
