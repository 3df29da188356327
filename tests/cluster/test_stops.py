"""Pods are replaced in several ways while 100 webhooks a second arrive, each on a new connection."""

import json
from collections.abc import Callable
from contextlib import suppress

import pytest

from app.settings import Release
from tests.cluster import attack, variant
from tests.cluster.cluster import KubectlError, kubectl, python, restarts, settled, wait_for, web_pods
from tests.cluster.record import See

_LOAD = ("--rate=100", "--no-keepalive")
_KILL = """
import os
for pid in filter(str.isdigit, os.listdir("/proc")):
    words = open(f"/proc/{pid}/cmdline").read().split("\\0")
    if words[1:4] == ["-m", "app", "PROCESS"]: os.kill(int(pid), 9)
"""


def kill(process: str) -> str:
    """Returns code that kills the process, for a pod whose containers share their PIDs."""
    return _KILL.replace("PROCESS", process)


def _scale(pods: int) -> None:
    kubectl("patch", "hpa", "web", "--patch", json.dumps(variant.fixed(pods)))
    settled(pods)


def _restart() -> None:
    kubectl("rollout", "restart", "deployment/web")
    settled(2)


def _release() -> None:
    """Changes the release in the ConfigMap, whose new name starts a roll-out."""
    variant.apply(release=Release.V08_NATIVE_ASYNC)


def _scale_up_and_down() -> None:
    _scale(4)
    _scale(2)


def _delete_one() -> None:
    kubectl("delete", "pod", web_pods()[0]["metadata"]["name"])
    settled(2)


@pytest.mark.parametrize(
    ("disturb", "duration"),
    [(_restart, 90), (_release, 90), (_scale_up_and_down, 120), (_delete_one, 60)],
    ids=["rolling_restart", "change_of_release", "scale_2_4_2", "delete_pod"],
)
def test_stops(see: See, disturb: Callable[[], None], duration: int) -> None:
    """No request fails, and no webhook that got 200 is lost."""
    variant.apply()
    attack.start(*_LOAD, f"--duration={duration}s")
    disturb()
    see("the load outlasted it", not attack.is_over(), not attack.is_over())
    report = attack.finish()
    see("failed requests", f"{report.failed} of {report.requests:,}: {report}", report.failed == 0)
    see("audit", report.audit, report.holds)


def test_kill_9(see: See) -> None:
    """The container restarts. Requests may fail until its endpoint is removed, but no acknowledged webhook is lost."""
    # The pod's containers share a PID namespace, because a PID 1 cannot be killed from inside its own namespace.
    # https://man7.org/linux/man-pages/man7/pid_namespaces.7.html
    variant.apply(patches=(variant.pod_patch(shareProcessNamespace=True),))
    attack.start(*_LOAD, "--duration=45s")
    before = restarts()
    with suppress(KubectlError):  # kubectl exec may fail when its container ends
        python(web_pods()[0]["metadata"]["name"], kill("web"))
    wait_for("the restart", lambda: restarts() > before)
    settled(2)
    see("the load outlasted it", not attack.is_over(), not attack.is_over())
    report = attack.finish()
    # Half of the requests may fail while the Service still lists the endpoint, which is a few seconds at most.
    see("failed requests", f"{report.failed} of {report.requests:,}: {report}", report.failed <= 250)
    see("audit", report.audit, report.holds)
