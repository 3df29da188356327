"""Throughput by the number of pods, cold start, and the HPA."""

from datetime import datetime
from statistics import median
from typing import Any, NamedTuple

import pytest

from app.settings import Release
from tests.cluster import attack, variant
from tests.cluster.cluster import get, kubectl, python, settled, wait_for, web_pods
from tests.cluster.record import See

# Not the newest release: it needs so little CPU that a laptop can neither saturate four pods nor make the HPA act.
_SCALED = Release.V08_NATIVE_ASYNC
_SECONDS = 20
_ROUNDS = 3
_CPU_SECONDS = """
from pathlib import Path
root = Path("/sys/fs/cgroup")
if (root / "cgroup.controllers").exists(): print(int((root / "cpu.stat").read_text().split()[1]) / 1e6)
else: print(int((root / "cpuacct" / "cpuacct.usage").read_text()) / 1e9)
"""
# Prints the busy jiffies and all jiffies of all cores. /proc/stat is the node's, even inside a pod.
_JIFFIES = """
from pathlib import Path
jiffies = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
print(sum(jiffies) - jiffies[3] - jiffies[4], sum(jiffies))
"""


class Scaled(NamedTuple):
    """An attack on capped pods. `cores`: each pod's CPU in cores. `busy`: the used share of the node's CPU time."""

    report: attack.Report
    cores: list[float]
    busy: float

    def __str__(self) -> str:
        cores = ", ".join(f"{share:.2f}" for share in self.cores)
        cost = sum(self.cores) / self.report.throughput * 1000
        return f"{self.report}; cores they had: {cores}; {cost:.2f} ms of CPU a webhook; node busy: {self.busy:.0%}"


def _attack(pods: int) -> Scaled:
    variant.apply(_SCALED, pods=pods, capped=True)
    before = {pod["metadata"]["name"]: _cpu_seconds(pod["metadata"]["name"]) for pod in web_pods()}
    (one, *_) = before
    attack.start(f"--users={32 * pods}", f"--duration={_SECONDS}s", "--name=pods")
    node = _jiffies(one)
    report = attack.finish()
    working, counted = (now - then for now, then in zip(_jiffies(one), node, strict=True))
    cores = [(_cpu_seconds(name) - seconds) / _SECONDS for name, seconds in before.items()]
    return Scaled(report, cores, working / counted)


def _jiffies(pod: str) -> tuple[int, int]:
    working, counted = python(pod, _JIFFIES).split()
    return int(working), int(counted)


def _cpu_seconds(pod: str) -> float:
    return float(python(pod, _CPU_SECONDS))


def test_pods(see: See) -> None:
    """2 and 4 capped pods have 1.9 and 3.6 times the throughput of one, unless the node's cores are over 90 % busy.

    There are three rounds. Each ratio is the median of the rounds' ratios, because a slow minute affects a whole round.
    """
    seen: dict[int, list[Scaled]] = {1: [], 2: [], 4: []}
    for turn in range(_ROUNDS):
        for pods, attacks in seen.items():
            attacks.append(_attack(pods))
            report = attacks[-1].report
            see(f"pods: {pods}, round {turn + 1}", attacks[-1], report.holds and report.failed == 0)
    for pods, least in ((2, 1.9), (4, 3.6)):
        pairs = zip(seen[pods], seen[1], strict=True)
        ratio = median(many.report.throughput / one.report.throughput for many, one in pairs)
        bound = median(scaled.busy for scaled in seen[pods]) > 0.9
        why = "; bound by the node" if bound else ""
        see(f"pods: {pods} : 1", f"{ratio:.2f} ×, required {least} ×{why}", ratio >= least or bound)


@pytest.mark.parametrize(("capped", "most"), [(False, 4), (True, 10)], ids=["burst", "capped"])
def test_cold_start(see: See, capped: bool, most: int) -> None:
    """After each of three starts, the pod is ready within `most` seconds. Kubernetes' timestamps are whole seconds."""
    variant.apply(pods=1, capped=capped)
    taken, cpu = [], []
    for _ in range(3):
        kubectl("rollout", "restart", "deployment/web")
        (pod,) = settled(1)
        taken.append(_seconds(pod))
        cpu.append(_cpu_seconds(pod["metadata"]["name"]))
    see("container started → ready", f"{', '.join(f'{t:g} s' for t in taken)}, required {most} s", max(taken) <= most)
    see("CPU until then", ", ".join(f"{seconds:.2f} s" for seconds in cpu), True)


def _seconds(pod: Any) -> float:
    started = pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"]
    ready = next(c["lastTransitionTime"] for c in pod["status"]["conditions"] if c["type"] == "Ready")
    return (datetime.fromisoformat(ready) - datetime.fromisoformat(started)).total_seconds()


def _replicas() -> int:
    return int(get("deployment", "web")["spec"]["replicas"])


def test_hpa(see: See) -> None:
    """The HPA adds pods under load, and removes them afterwards."""
    variant.apply(_SCALED, pods=None)
    wait_for("the HPA's first CPU metric", lambda: get("hpa", "web")["status"].get("currentMetrics"))
    attack.start("--rate=500", "--duration=120s", "--name=hpa")
    counts = []

    def over() -> bool:
        counts.append(_replicas())
        return attack.is_over()

    wait_for("the end of the attack", over, 300)
    report = attack.finish()
    see("under 500/s", f"2 → {max(counts)} pods; {report}", max(counts) > 2 and report.holds)
    wait_for("two pods again", lambda: _replicas() == 2, 600)
    settled(2)
    see("afterwards", "2 pods", True)
