"""The deployment runs, is restricted, and has the kernel limits of the manifests."""

from tests.cluster import attack, variant
from tests.cluster.client import namespace, output_of
from tests.cluster.cluster import KubectlError, get, kubectl, pods_of, python, queued, web_pods
from tests.cluster.record import See

_CGROUP = """
from pathlib import Path
root = Path("/sys/fs/cgroup")
def read(two, one):
    path = root / two if (root / "cgroup.controllers").exists() else root / one
    return path.read_text().strip()
print(read("memory.max", "memory/memory.limit_in_bytes"), read("memory.peak", "memory/memory.max_usage_in_bytes"),
      read("cpu.weight", "cpu/cpu.shares"), read("cpu.max", "cpu/cpu.cfs_quota_us").split()[0])
"""
_SECURITY = """
import os
status = dict(line.split(":\\t") for line in open("/proc/1/status").read().splitlines() if ":\\t" in line)
try: open("/srv/x", "w"); root = "writable"
except OSError: root = "read-only"
print(os.getuid(), status["Seccomp"], status["NoNewPrivs"], status["CapEff"], root)
"""
_TRY = """
import socket, sys, time
host, port, until, seen = sys.argv[1], int(sys.argv[2]), time.monotonic() + 15, ""
while not seen.startswith("connected") and time.monotonic() < until:
    try: socket.create_connection((host, port), 4); seen = "connected"
    except OSError as error: seen = f"blocked for 15 s: {error}"; time.sleep(0.5)
print(seen)
"""
_SCRAPE = """
import sys, time, urllib.request
until, seen = time.monotonic() + 15, ""
while not seen.isdecimal() and time.monotonic() < until:
    try: seen = str(urllib.request.urlopen(f"http://{sys.argv[1]}:9464/metrics", timeout=4).read().count(b"# TYPE"))
    except OSError as error: seen = f"blocked for 15 s: {error}"; time.sleep(0.5)
print(seen)
"""


def test_apply(see: See) -> None:
    """After `kubectl apply -k`, all Deployments are available, and webhooks to the Service arrive in the queue."""
    variant.apply()
    kubectl("wait", "deployments", "--all", "--for=condition=Available", "--timeout=60s")
    see("deployments available", ", ".join(found["metadata"]["name"] for found in get("deployments")), True)
    report = attack.run("--rate=10", "--duration=3s", "--name=first")
    see("30 webhooks through the Service", report, report.failed == 0 and report.holds)
    see("left in the queue by the audit", queued(), queued() == 0)


def test_restricted(see: See) -> None:
    """Pod Security rejects a privileged pod, and PID 1 of a web pod has no privileges."""
    variant.apply()
    try:
        kubectl("run", "rogue", "--image=invoice-webhook:dev", "--privileged", "--dry-run=server")
        refused = "admitted"
    except KubectlError as error:
        refused = str(error).partition("violates ")[2][:60]
    see("a privileged pod", f"violates {refused}…", refused.startswith("PodSecurity"))
    found = python(web_pods()[0]["metadata"]["name"], _SECURITY)
    see("uid, seccomp, no new privileges, capabilities, root", found, found == "10001 2 1 0000000000000000 read-only")


def test_resources(see: See) -> None:
    """The kernel applies the manifests' limits and shares, capped or not. It kills a process above the memory limit."""
    for capped in (False, True):
        variant.apply(pods=1, capped=capped)
        pod = web_pods()[0]["metadata"]["name"]
        limit, peak, share, quota = python(pod, _CGROUP).split()
        name = "capped" if capped else "burst"
        see(f"{name}: memory limit", f"{int(limit) >> 20} MiB", int(limit) == 512 << 20)
        see(f"{name}: memory peak after the start", f"{int(peak) >> 20} MiB", int(peak) < 256 << 20)
        # In cgroup v1, 250 of 1,000m are 256 of 1,024 shares. In v2, the weight depends on the container runtime.
        see(f"{name}: cpu shares (v1) or weight (v2)", share, int(share) in (256, 10, 35))
        see(f"{name}: cpu quota", quota, quota == ("25000" if capped else "-1") or (quota == "max" and not capped))
    try:
        python(pod, "b = bytearray(700 << 20); print(len(b))")
        killed = "allocated"
    except KubectlError as error:
        killed = str(error).rpartition(": ")[2]
    see("700 MiB asked for in a container", killed, "137" in killed)


def test_networkpolicy(see: See) -> None:
    """Only listed pods can reach web. Web can reach only the queue's proxy; a worker also Chargebee and DynamoDB."""
    variant.apply(pods=1, workers=1)
    addresses = {process: pods_of(process)[0]["status"]["podIP"] for process in ("web", "worker")}
    for label, expected in (("loadtest", "connected"), ("other", "blocked")):
        seen = output_of(_TRY, "web", "80", label=label)
        see(f"a pod labelled {label} → web", seen, seen.startswith(expected))
    for process, address in addresses.items():
        seen = output_of(_TRY, address, "9464", label="prometheus")
        see(f"a pod labelled prometheus, of this namespace → {process}'s metrics", seen, seen.startswith("blocked"))
    for process, allowed in {"web": ["toxiproxy"], "worker": ["toxiproxy", "dynamodb", "chargebee"]}.items():
        pod = pods_of(process)[0]["metadata"]["name"]
        for host, port in (("toxiproxy", 9324), ("sqs", 9324), ("dynamodb", 4566), ("chargebee", 8002)):
            seen = python(pod, _TRY, host, str(port))
            see(f"{process} → {host}:{port}", seen, seen.startswith("connected" if host in allowed else "blocked"))


def test_metrics(see: See) -> None:
    """Prometheus, in the namespace `monitoring`, can scrape web and worker, but cannot connect to their other ports."""
    variant.apply(pods=1, workers=1)
    with namespace("monitoring"):
        for process in ("web", "worker"):
            address = pods_of(process)[0]["status"]["podIP"]
            seen = output_of(_SCRAPE, address, label="prometheus", namespace="monitoring")
            see(f"{process}: metrics", seen, seen.isdecimal() and int(seen) > 20)
            seen = output_of(_TRY, address, "8000", label="prometheus", namespace="monitoring")
            see(f"prometheus → {process}:8000", seen, seen.startswith("blocked"))
