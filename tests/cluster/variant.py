"""The deployed variant: overlays/kind with a release, a number of pods, the cap, and patches."""

import json
import os
from pathlib import Path
from typing import Any

from tests.cluster.cluster import kubectl, set_latency, settled

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".run" / "k8s"  # inside the tree: kustomize accepts only relative paths to bases

# Kubernetes' defaults, which apply when only the path of a probe is given:
# https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/#configure-probes
NAIVE_PROBES = {
    "startupProbe": None,
    "readinessProbe": {"periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3},
    "livenessProbe": {"periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3},
}


def pod_patch(**pod: Any) -> Any:
    """A patch of the Deployment's pods."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": pod}},
    }


def fixed(pods: int) -> Any:
    """A patch of the HPA with a fixed number of pods."""
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {"minReplicas": pods, "maxReplicas": pods},
    }


def write(folder: Path, kustomization: Any) -> Path:
    """Writes a kustomization (JSON is YAML)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kustomization.yaml").write_text(json.dumps(kustomization, indent=2))
    return folder


def apply(
    release: str | None = None, pods: int | None = 2, *, capped: bool = False, patches: tuple[Any, ...] = ()
) -> None:
    """Deploys it and waits until only that runs. `pods` None: the HPA decides, from two up."""
    base = os.path.relpath(ROOT / "deploy" / "k8s", FOLDER)
    chosen = [*patches, *([fixed(pods)] if pods is not None else [])]
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "namespace": "invoice-webhook",
        "resources": [f"{base}/overlays/kind"],
        "components": [f"{base}/components/cpu-cap"] if capped else [],
        "configMapGenerator": [
            {"name": "web", "behavior": "merge", "literals": [f"APP_RELEASE={release}"]},
        ]
        if release
        else [],
        "patches": [{"patch": json.dumps(patch)} for patch in chosen],
    }
    kubectl("apply", "--kustomize", str(write(FOLDER, kustomization)))
    for emulator in ("elasticmq", "toxiproxy"):
        kubectl("rollout", "status", f"deployment/{emulator}", "--timeout=180s")
    set_latency(8)
    settled(pods or 2)
