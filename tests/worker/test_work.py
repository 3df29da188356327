"""A worker process on a real queue deletes, retries and dead-letters messages."""

import signal
from collections.abc import Callable

from tests.worker.conftest import Pair, StartWorker, make_pair
from tests.worker.controller import Asked, Controller

EventNamed = Callable[[str], bytes]


def test_what_is_done_is_deleted(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """The worker processes each message once, and leaves none."""
    controller.policy = lambda asked: {"outcome": "closed"}
    names = [f"ev_{number}" for number in range(25)]
    for name in names:
        pair.send(event_named(name))
    worker = start_worker(pair)
    for name in names:
        assert worker.log(event_id=name)["outcome"] == "closed"
    assert worker.stop(signal.SIGINT) == 0
    assert sorted(controller.events()) == sorted(names)
    assert pair.counts() == (0, 0)


def test_no_more_are_worked_on_at_a_time_than_allowed(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """APP_WORKER_CONCURRENCY is the limit; the next message begins when one is done."""
    for number in range(5):
        pair.send(event_named(f"ev_{number}"))
    start_worker(pair, worker_concurrency=2, prefetch=8)
    controller.wait(lambda: len(controller.asked) == 2)
    for number in range(3, 6):
        waiting = [asked for asked in controller.asked if not asked.gone]
        assert len(waiting) == 2
        waiting[0].answer(outcome="closed")
        controller.wait_until_gone(waiting[0])
        controller.wait_for_number(number)


def test_what_failed_comes_again(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """The message returns after the time that the other side has named; the log has the number of receives."""
    pair.send(event_named("ev_1"))
    worker = start_worker(pair)
    controller.wait_for("ev_1").answer(postponed="lock_timeout", retry_after=0.5)
    failed = worker.log(outcome="retried")
    assert (failed["event_id"], failed["cause"], failed["receives"]) == ("ev_1", "lock_timeout", 1)
    assert failed["retry_in_s"] == 1
    controller.wait_for("ev_1", 2).answer(outcome="closed")
    assert worker.log(outcome="closed")["receives"] == 2


def test_a_bug_loses_nothing(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """An unexpected exception is logged with its traceback, and the message stays in the queue."""
    message_id = pair.send(event_named("ev_1"))
    worker = start_worker(pair)
    controller.wait_for("ev_1").answer(crash="a bug")
    assert "a bug" in worker.log(event_id="ev_1", level="ERROR")["exception"]
    failed = worker.log(outcome="retried")
    assert (failed["cause"], failed["message_id"]) == ("RuntimeError", message_id)
    assert worker.stop(signal.SIGINT) == 0
    assert sum(pair.counts()) == 1


def test_poison_goes_to_the_dead_letter_queue(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """The worker sends the dead letter at once, with its reason, and only then deletes the message."""
    controller.policy = lambda asked: {"unprocessable": "invoice_not_found"}
    body = event_named("ev_1")
    pair.send(body, event_id="ev_1", event_type="pending_invoice_created")
    worker = start_worker(pair)
    assert worker.log(outcome="dead_letter")["cause"] == "invoice_not_found"
    assert worker.stop(signal.SIGINT) == 0
    [(dead, attributes)] = pair.dead_letters()
    assert dead == body.decode()
    assert attributes == {
        "event_id": "ev_1",
        "event_type": "pending_invoice_created",
        "reason": "invoice_not_found",
        "detail": "as the test says",
        "receive_count": "1",
    }
    assert pair.counts() == (0, 0)


def test_what_is_not_an_event_is_poison(pair: Pair, controller: Controller, start_worker: StartWorker) -> None:
    """The worker does not process the body; the reason names the place, and no value."""
    pair.send("no JSON")
    pair.send('{"id": "ev_secret"}')
    worker = start_worker(pair)
    worker.wait_for("message dead_letter")
    dead: list[tuple[str, dict[str, str]]] = []
    while len(dead) < 2:  # pytest's time-out ends it
        dead += pair.dead_letters()
    details = {body: attributes["detail"] for body, attributes in dead}
    assert {attributes["reason"] for _, attributes in dead} == {"not_an_event"}
    assert details["no JSON"].startswith("The body is not JSON: body: Invalid JSON")
    assert "occurred_at: Field required" in details['{"id": "ev_secret"}']
    assert "secret" not in details['{"id": "ev_secret"}']
    assert controller.asked == []


def test_poison_stays_where_the_dead_letter_queue_is_down(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """The worker deletes the message only after the dead-letter queue has acknowledged it, so SQS delivers it again."""
    controller.policy = lambda asked: {"unprocessable": "invoice_not_found"}
    pair.send(event_named("ev_1"))
    worker = start_worker(pair, dead_letter_queue_url=pair.dead_url + "-missing")
    worker.wait_for("The dead-letter queue did not accept a message")
    assert worker.log(outcome="retried")["cause"] == "dead_letter_queue"
    assert worker.stop(signal.SIGINT) == 0
    assert sum(pair.counts()) == 1


def test_an_unwanted_event_is_done(pair: Pair, controller: Controller, start_worker: StartWorker) -> None:
    """The content of an event of another type is not validated."""
    pair.send(
        '{"id": "ev_1", "occurred_at": 1, "source": "s", "object": "event", "api_version": "v2",'
        ' "event_type": "other", "webhook_status": "x", "content": {"invoice": 1}}'
    )
    worker = start_worker(pair)
    assert worker.log(event_id="ev_1")["outcome"] == "ignored"
    assert controller.asked == []


def test_too_few_receives_are_warned_of(pair: Pair, start_worker: StartWorker) -> None:
    """The queue moves messages away after five receives, which good messages may have."""
    worker = start_worker(make_pair(pair.endpoint, receives=5))
    assert "maxReceiveCount is 5, but should be 1000" in worker.wait_for("maxReceiveCount")


def _first_fails(asked_before: list[str]) -> Callable[[Asked], dict[str, object]]:
    def policy(asked: Asked) -> dict[str, object]:
        asked_before.append(asked.event_id)
        if asked.event_id == "ev_a1" and asked_before.count("ev_a1") == 1:
            return {"postponed": "lock_timeout", "retry_after": 0.5}
        return {"outcome": "closed"}

    return policy


def test_a_fifo_group_is_in_order_across_two_workers(
    fifo_pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """If the first message of a group fails, the later ones wait for it; other groups do not."""
    controller.policy = _first_fails([])
    names = [f"ev_{group}{number}" for number in (1, 2, 3) for group in ("a", "b")]
    for name in names:
        fifo_pair.send(event_named(name), group=name[3])
    start_worker(fifo_pair, "one")
    start_worker(fifo_pair, "two")
    controller.wait(lambda: len(controller.asked) == len(names) + 1)
    of_group = {group: [name for name in controller.events() if name[3] == group] for group in ("a", "b")}
    assert of_group == {"a": ["ev_a1", "ev_a1", "ev_a2", "ev_a3"], "b": ["ev_b1", "ev_b2", "ev_b3"]}


def test_a_fifo_group_is_worked_on_one_at_a_time(
    fifo_pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """The worker processes one message of a group at a time, even if it received several. Groups run side by side."""
    for name in ("ev_a1", "ev_a2", "ev_b1"):
        fifo_pair.send(event_named(name), group=name[3])
    start_worker(fifo_pair)
    first = controller.wait_for("ev_a1")
    controller.wait_for("ev_b1")
    assert "ev_a2" not in controller.events()
    first.answer(outcome="closed")
    controller.wait_for("ev_a2")


def test_poison_does_not_hold_back_its_group(
    fifo_pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    controller.policy = lambda asked: (
        {"unprocessable": "invoice_not_found"} if asked.event_id == "ev_a1" else {"outcome": "closed"}
    )
    for name in ("ev_a1", "ev_a2"):
        fifo_pair.send(event_named(name), group="a")
    worker = start_worker(fifo_pair)
    assert worker.log(event_id="ev_a2")["outcome"] == "closed"
    [(_, attributes)] = fifo_pair.dead_letters()
    assert attributes["reason"] == "invoice_not_found"
