"""The published attack on one pod: the throughput of each release, with and without restarts by probes."""

from itertools import pairwise

import pytest

from app.settings import NEWEST, Release
from tests.cluster import attack, variant
from tests.cluster.cluster import get, kubectl, python, restarts, web_pods
from tests.cluster.record import See

_PUBLISHED = ("--rate=500", "--duration=5s", "--timeout=30s")
_RELEASES = (Release.V02_BLOCKING, Release.V04_MORE_TOKENS, Release.V07_SYNC_HANDLER, NEWEST)
_PEAK = """
from pathlib import Path
root = Path("/sys/fs/cgroup")
two = root / "memory.peak"
print((two if two.exists() else root / "memory" / "memory.max_usage_in_bytes").read_text())
"""


def _unhealthy() -> int:
    """Returns how many probes of the running web pod have failed after its start-up, from Kubernetes' events."""
    name = web_pods()[0]["metadata"]["name"]
    events = get("events", "--field-selector", f"involvedObject.name={name},reason=Unhealthy")
    return sum(event.get("count", 1) for event in events if "Startup" not in event["message"])


@pytest.mark.parametrize("capped", [False, True], ids=["burst", "capped"])
def test_releases(see: See, capped: bool) -> None:
    """Each release has a higher throughput than the previous one (capped: from v04 on), and no container restarts."""
    successes: list[float] = []
    for release in _RELEASES:
        variant.apply(release, pods=1, capped=capped)
        report = attack.run(*_PUBLISHED, f"--name={release}")
        see(release, report, report.holds)
        successes.append(report.throughput)
        again = restarts()
        see(f"{release}: restarts, failed probes", f"{again}, {_unhealthy()}", again == 0)
        if again == 0:
            peak = int(python(web_pods()[0]["metadata"]["name"], _PEAK, timeout=300)) >> 20
            see(f"{release}: memory peak", f"{peak} MiB", peak < 256)
    rates = ", ".join(f"{throughput:.0f}" for throughput in successes)
    # On a quarter of a core, v02 and v04 spend their CPU on building clients, and threads do not make this cheaper.
    oldest, *newer = successes[1:] if capped else successes
    see("the order", f"{rates} per second", all(before < after for before, after in pairwise([oldest, *newer])))


@pytest.mark.parametrize("capped", [False, True], ids=["burst", "capped"])
def test_naive_probes(see: See, capped: bool) -> None:
    """Under attack, with Kubernetes' default probes as published, v02's probes fail, or its container is restarted."""
    container = {"name": "web", **_naive()}
    variant.apply(Release.V02_BLOCKING, pods=1, capped=capped, patches=(variant.pod_patch(containers=[container]),))
    report = attack.run(*_PUBLISHED, "--name=naive")
    see("v02 with naive probes", report, report.holds)
    see("restarts, failed probes", f"{restarts()}, {_unhealthy()}", restarts() + _unhealthy() > 0)


def _naive() -> dict[str, object]:
    paths = {"startupProbe": "", "readinessProbe": "/readyz", "livenessProbe": "/healthz"}
    return {
        name: probe and {"httpGet": {"path": paths[name], "port": "http"}, **probe}
        for name, probe in variant.NAIVE_PROBES.items()
    }


def test_saturation(see: See) -> None:
    """The newest release, capped, is saturated for a minute. Requests and probes succeed, and memory stays small."""
    variant.apply(pods=1, capped=True)
    report = attack.run("--users=200", "--duration=60s", "--name=saturated")
    see("200 users for a minute", report, report.holds and report.failed == 0)
    see("restarts, failed probes", f"{restarts()}, {_unhealthy()}", restarts() + _unhealthy() == 0)
    peak = int(python(web_pods()[0]["metadata"]["name"], _PEAK)) >> 20
    see("memory peak", f"{peak} MiB", peak < 256)
    see("usage now", kubectl("top", "pods", "--no-headers").strip().replace("\n", "; "), True)
