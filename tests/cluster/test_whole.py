"""Tests the whole path from webhooks to closed invoices. Nothing is lost or repeated while pods are replaced."""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle
from time import monotonic

import pytest

from tests.cluster import variant, whole
from tests.cluster.cluster import (
    DEAD_LETTERS,
    NAMESPACE,
    QUEUE,
    KubectlError,
    kubectl,
    pods_of,
    python,
    queued,
    restarts,
    settled,
    wait_for,
)
from tests.cluster.record import See
from tests.cluster.test_stops import kill

_IN_FLIGHT = "ApproximateNumberOfMessagesNotVisible"
_EVENTS, _RATE = 10_000, 12


def _empty() -> bool:
    return queued() == queued(QUEUE, _IN_FLIGHT) == 0


def _see(see: See, delivered: whole.Delivered) -> None:
    see("invoices, charges", delivered, not delivered.problems)
    wait_for("an empty queue", _empty)
    see("left in the queue, dead letters", f"0, {queued(DEAD_LETTERS)}", queued(DEAD_LETTERS) == 0)


def test_whole(see: See) -> None:
    """The invoices of 30 webhooks through the Service are closed. A webhook without an invoice is a dead letter."""
    whole.deploy()
    with whole.delivering(30, rate=10) as delivery:
        _see(see, delivery.finish())
    kubectl(
        "exec", "deployment/chargebee", "--", "python", "-m", "local", "send", "--url", "http://web", "--count", "1"
    )
    wait_for("the dead letter", lambda: queued(DEAD_LETTERS) == 1)
    see("a webhook whose invoice Chargebee does not know", "1 dead letter", True)


def _restart(process: str) -> None:
    kubectl("rollout", "restart", f"deployment/{process}")
    settled(2, process=process)


def _restart_both() -> None:
    """Rolls out one process after the other, because a node with two cores is too small for both at once."""
    _restart("worker")
    _restart("web")


def _delete_a_worker() -> None:
    kubectl("delete", "pod", pods_of("worker")[0]["metadata"]["name"])
    settled(2, process="worker")


def _kill_a_worker() -> None:
    """Kills a worker. After a minute (APP_BILLING_LEASE, APP_WORKER_VISIBILITY), another worker may do its work."""
    before = restarts("worker")
    with suppress(KubectlError):  # kubectl exec may fail when its container ends
        python(pods_of("worker")[0]["metadata"]["name"], kill("worker"))
    wait_for("the restart", lambda: restarts("worker") > before)
    settled(2, process="worker")


def _evict_a_worker() -> None:
    name = pods_of("worker")[0]["metadata"]["name"]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/eviction"
    kubectl("create", "--raw", path, "--filename", "-", stdin=json.dumps(eviction))
    settled(2, process="worker")


def _restart_workers() -> None:
    _restart("worker")


@pytest.mark.parametrize(
    "disturb",
    [_restart_both, _delete_a_worker, _kill_a_worker],
    ids=["rolling_restarts", "delete_worker", "kill_9_worker"],
)
def test_whole_stops(see: See, disturb: Callable[[], None]) -> None:
    """Each invoice is closed once, and has each charge once, although pods are restarted, deleted or killed."""
    whole.deploy(patches=(variant.pod_patch("worker", shareProcessNamespace=True),))
    with whole.delivering(600, rate=6) as delivery:
        wait_for("messages in work", lambda: queued(QUEUE, _IN_FLIGHT) > 0)
        disturb()
        see("invoices still open after it", "yes", not _empty())
        _see(see, delivery.finish())


@pytest.mark.timeout(2400)
def test_ten_thousand_events(see: See) -> None:
    """While workers are killed, evicted and restarted, each invoice is closed once, and has each charge once."""
    in_memory = {"resources": {"limits": {"memory": "3Gi"}}}  # all webhooks, and the stand-ins' records
    larger = [variant.pod_patch(name, containers=[{"name": name, **in_memory}]) for name in ("chargebee", "dynamodb")]
    whole.deploy(patches=(variant.pod_patch("worker", shareProcessNamespace=True), *larger))
    disturbed: Counter[str] = Counter()
    with whole.delivering(_EVENTS, _RATE) as delivery:
        end = monotonic() + _EVENTS / _RATE
        for disturb in cycle([_kill_a_worker, _evict_a_worker, _restart_workers]):
            disturb()
            disturbed[disturb.__name__.strip("_")] += 1
            if monotonic() > end:
                break
        _see(see, delivery.finish())
    see("disturbances", ", ".join(f"{count} × {name}" for name, count in disturbed.items()), True)
