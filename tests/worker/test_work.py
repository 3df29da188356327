"""A worker process on a real queue: what is done is deleted, what failed comes again, what never can is kept apart."""

import signal
from collections.abc import Callable

from tests.worker.conftest import Pair, StartWorker
from tests.worker.controller import Controller

EventNamed = Callable[[str], bytes]


def test_what_is_done_is_deleted(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """Each message once, and none is left."""
    controller.policy = lambda asked: {"outcome": "closed"}
    names = [f"ev_{number}" for number in range(25)]
    for name in names:
        pair.send(event_named(name))
    worker = start_worker(pair)
    for name in names:
        assert worker.log(event_id=name)["outcome"] == "closed"
    worker.stop(signal.SIGINT)
    assert sorted(controller.events()) == sorted(names)
    assert pair.counts() == (0, 0)
