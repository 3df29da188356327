"""Deploys a variant of overlays/kind: a release, numbers of pods and workers, a CPU cap or none, and patches."""

import json
import os
from pathlib import Path
from typing import Any

from tests.cluster.cluster import kubectl, set_latency, settled

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".run" / "k8s"  # in this tree, because kustomize accepts only relative paths to bases

# Kubernetes' defaults, which apply when only the path of a probe is given:
# https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/#configure-probes
NAIVE_PROBES = {
    "startupProbe": None,
    "readinessProbe": {"periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3},
    "livenessProbe": {"periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3},
}


def pod_patch(process: str = "web", **pod: Any) -> Any:
    """Returns a patch of the Deployment's pods."""
    return _deployment(process, {"template": {"spec": pod}})


def _deployment(process: str, spec: Any) -> Any:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": process}, "spec": spec}


def fixed(pods: int, process: str = "web") -> Any:
    """Returns a patch of the HPA for a fixed number of pods."""
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": process},
        "spec": {"minReplicas": pods, "maxReplicas": pods},
    }


def _workers(count: int) -> Any:
    """Returns a patch for `count` workers. Without workers, an attack's audit is the only consumer of the queue.

    An HPA does not act on a Deployment without replicas:
    https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation
    """
    return fixed(count, "worker") if count else _deployment("worker", {"replicas": 0})


def write(folder: Path, kustomization: Any) -> Path:
    """Writes a kustomization as JSON, which is valid YAML, and returns its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kustomization.yaml").write_text(json.dumps(kustomization, indent=2), encoding="utf-8")
    return folder


def apply(
    release: str | None = None,
    pods: int | None = 2,
    *,
    capped: bool = False,
    workers: int = 0,
    rate: int = 150,
    patches: tuple[Any, ...] = (),
) -> None:
    """Deploys the variant, and waits until only its pods run. `pods`: None lets the HPA decide, with two pods or more.

    `rate`: the workers' setting of Chargebee's limit, in calls a minute.
    """
    base = os.path.relpath(ROOT / "deploy" / "k8s", FOLDER)
    chosen = [*patches, _workers(workers), *([fixed(pods)] if pods is not None else [])]
    literals = {"worker": f"APP_CHARGEBEE_RATE={rate}", **({"web": f"APP_RELEASE={release}"} if release else {})}
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "namespace": "invoice-webhook",
        "resources": [f"{base}/overlays/kind"],
        "components": [f"{base}/components/cpu-cap"] if capped else [],
        "configMapGenerator": [
            {"name": name, "behavior": "merge", "literals": [literal]} for name, literal in literals.items()
        ],
        "patches": [{"patch": json.dumps(patch)} for patch in chosen],
    }
    kubectl("apply", "--kustomize", str(write(FOLDER, kustomization)))
    if workers:  # an HPA does not act on a Deployment without replicas
        kubectl("scale", "deployment/worker", f"--replicas={workers}")
    for stand_in in ("chargebee", "dynamodb", "sqs", "toxiproxy"):
        kubectl("rollout", "status", f"deployment/{stand_in}", "--timeout=180s")
    set_latency(8)
    settled(pods or 2)
    settled(workers, process="worker")
