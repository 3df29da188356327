"""Rules on the life cycle in a cluster: probes, stops, and how many pods there are."""

from collections.abc import Iterator
from typing import Any

from app.server.run import LAST_ACCEPT_SECONDS, LAST_CALL_SECONDS
from app.settings import WebSettings
from app.telemetry.stderr import EXIT_SECONDS
from tests.deploy.policy import Objects, container, environment, named, of, processes

_LAST_CALL = LAST_ACCEPT_SECONDS + LAST_CALL_SECONDS
_PORTS = {"web": "http", "worker": "health"}
_MARGIN = 5  # seconds in which a worker hands back its messages and closes its clients


def probes(objects: Objects) -> Iterator[str]:
    """A container gets no requests long before liveness restarts it, and a busy container is not restarted."""
    for name, deployment in processes(objects):
        yield from (f"{name}: {flaw}" for flaw in _probes(container(deployment), _PORTS[name]))


def _probes(found: Any, port: str) -> Iterator[str]:
    paths = {"startupProbe": "/readyz", "readinessProbe": "/readyz", "livenessProbe": "/healthz"}
    for name, path in paths.items():
        if found.get(name, {}).get("httpGet") != {"path": path, "port": port}:
            yield f"{name} does not probe {path}"
            return
    patience = {name: found[name]["periodSeconds"] * found[name]["failureThreshold"] for name in paths}
    if patience["startupProbe"] < 60:
        yield "the start has less than a minute"
    if patience["livenessProbe"] < 300 or found["livenessProbe"]["timeoutSeconds"] < 30:
        yield "liveness would restart a busy container"
    if not 15 <= patience["readinessProbe"] <= patience["livenessProbe"] / 2:
        yield "readiness must fail well before liveness, and not at once"


def stops(objects: Objects) -> Iterator[str]:
    """The grace period covers the whole stop, and a roll-out never reduces the number of pods."""
    for name, deployment in processes(objects):
        spec = deployment["spec"]
        if spec["strategy"].get("rollingUpdate", {}).get("maxUnavailable") != 0:
            yield f"{name}: a roll-out may remove pods first"
        if "replicas" in spec:
            yield f"{name}: replicas are set, which an autoscaler controls"
        given, _ = environment(objects, deployment)
        graceful = float(given.get("APP_GRACEFUL_TIMEOUT", 0))
        if not graceful:
            yield f"{name}: APP_GRACEFUL_TIMEOUT is not set"
        needed = graceful + EXIT_SECONDS + (_MARGIN if name == "worker" else _LAST_CALL)
        if name == "web":
            pause = container(deployment).get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
            drain = float(given.get("APP_DRAIN_DELAY", 0))
            needed += pause + drain + float(given.get("APP_SQS_TIMEOUT", WebSettings().sqs_timeout))
            if pause < 5 or not drain:
                yield "preStop is too short for the endpoints' update, or APP_DRAIN_DELAY is not set"
        if spec["template"]["spec"].get("terminationGracePeriodSeconds", 30) < needed:
            yield f"{name}: the grace period ends before the stop does"


def budgets(objects: Objects) -> Iterator[str]:
    """Each Deployment has one autoscaler, and a PDB that allows one eviction at a time."""
    for name, _ in processes(objects):
        pdb = named(objects, "PodDisruptionBudget", name)["spec"]
        if pdb.get("maxUnavailable") != 1 or "minAvailable" in pdb:
            yield f"{name}: the PDB blocks drains, or allows more than one eviction"
        ranges = [*_hpas(objects, name), *_scaled_objects(objects, name)]
        if len(ranges) != 1:
            yield f"{name}: {len(ranges)} autoscalers"
        if any(not least < most for least, most in ranges):
            yield f"{name}: the autoscaler's range is empty, or starts too low"


def _hpas(objects: Objects, name: str) -> Iterator[tuple[int, int]]:
    """Yields the range of pods. At least two are required, so that the loss of a node leaves one."""
    for hpa in (found["spec"] for found in of(objects, "HorizontalPodAutoscaler")):
        if hpa["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}:
            yield hpa["minReplicas"], hpa["maxReplicas"] if hpa["minReplicas"] >= 2 else 0


def _scaled_objects(objects: Objects, name: str) -> Iterator[tuple[int, int]]:
    """Yields the range of pods. For KEDA, one is enough, because messages wait in the queue."""
    for scaled in (found["spec"] for found in of(objects, "ScaledObject")):
        if scaled["scaleTargetRef"] == {"name": name}:
            yield scaled["minReplicaCount"], scaled["maxReplicaCount"] if scaled["minReplicaCount"] >= 1 else 0
