"""deploy/k8s rendered by kustomize: each overlay with each combination of components, and the load test's Job."""

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
K8S = ROOT / "deploy" / "k8s"
OVERLAYS = sorted(folder.name for folder in (K8S / "overlays").iterdir())
COMPONENTS = sorted(folder.name for folder in (K8S / "components").iterdir())
COMBINATIONS = [
    (overlay, components)
    for overlay in OVERLAYS
    for components in chain.from_iterable(combinations(COMPONENTS, size) for size in range(len(COMPONENTS) + 1))
]
# kubectl from the lock, so that every machine renders with the same kustomize.
_KUBECTL = Path(sys.executable).with_name("kubectl")


def kustomize(folder: Path) -> list[Any]:
    """The objects of a kustomization."""
    ended = subprocess.run([_KUBECTL, "kustomize", folder], capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode == 0, ended.stderr
    assert not ended.stderr, ended.stderr  # such as a deprecation
    return list(yaml.safe_load_all(ended.stdout))


@cache
def rendered(overlay: str, components: tuple[str, ...]) -> list[Any]:
    """An overlay with components, as listed in its kustomization. Callers must not change it: it is cached."""
    (ROOT / ".run").mkdir(exist_ok=True)
    # Inside the tree, as kustomize requires relative paths to bases; one folder per call, as tests run concurrently.
    with tempfile.TemporaryDirectory(dir=ROOT / ".run") as folder:
        base = os.path.relpath(K8S, folder)
        kustomization = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": "invoice-webhook",
            "resources": [f"{base}/overlays/{overlay}"],
            "components": [f"{base}/components/{component}" for component in components],
        }
        (Path(folder) / "kustomization.yaml").write_text(json.dumps(kustomization), encoding="utf-8")
        return kustomize(Path(folder))
