"""The rules and patches for other clusters in deploy/k8s/OTHER_CLUSTERS.md, added to a copy of the overlay for AWS."""

import re
import shutil
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest

from tests.deploy.policy import container, named, of, processes
from tests.deploy.rendering import K8S, kustomize
from tests.deploy.test_manifests import KUBERNETES


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Returns the objects of a copy of the overlay whose lists have all rules and patches, as the page says."""
    copy = _copy(tmp_path_factory.mktemp("elsewhere"))
    text = copy.read_text(encoding="utf-8")
    for key, more in (("resources:\n", "  - elsewhere.yaml\n"), ("patches:\n", _blocks()[1])):
        assert text.count(key) == 1
        text = text.replace(key, key + more)
    copy.write_text(text, encoding="utf-8")
    return kustomize(copy.parent)


def _blocks() -> tuple[str, str]:
    """Returns the page's rules, and its patches."""
    section = (K8S / "OTHER_CLUSTERS.md").read_text(encoding="utf-8")
    rules, patches = re.findall(r"^```yaml\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    return rules, patches


def _copy(folder: Path) -> Path:
    """Copies the overlay beside its original, with the rules as a file. Returns the path of its kustomization."""
    shutil.copytree(K8S, folder / "k8s")
    overlay = folder / "k8s" / "overlays" / "elsewhere"
    shutil.copytree(K8S / "overlays" / "aws", overlay)
    (overlay / "elsewhere.yaml").write_text(_blocks()[0], encoding="utf-8")
    return overlay / "kustomization.yaml"


def test_they_apply(objects: list[Any]) -> None:
    """Each object conforms to Kubernetes' schema, and the new policies are for the service's pods."""
    for found in objects:
        kubernetes_validate.validate(found, KUBERNETES, strict=True)
    labels = [deployment["spec"]["template"]["metadata"]["labels"].items() for _, deployment in processes(objects)]
    for name, selected in (("both-elsewhere", [True, True]), ("worker-elsewhere", [False, True])):
        selector = named(objects, "NetworkPolicy", name)["spec"]["podSelector"]["matchLabels"].items()
        assert [selector <= each for each in labels] == selected
    assert len(of(objects, "NetworkPolicy")) == 6


def test_the_patches_change_both_processes(objects: list[Any]) -> None:
    """The cluster chooses the user, which still must not be root. Requests and limits are equal."""
    for _, deployment in processes(objects):
        security = deployment["spec"]["template"]["spec"]["securityContext"]
        assert security == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        resources = container(deployment)["resources"]
        assert resources["requests"] == resources["limits"] == {"cpu": "1", "memory": "1Gi"}


def test_the_copy_keeps_what_it_had(objects: list[Any]) -> None:
    """The overlay's own patches still apply: roles, replicas, the time for the load balancer, its readiness gate."""
    for name in ("web", "worker"):
        role = named(objects, "ServiceAccount", name)["metadata"]["annotations"]["eks.amazonaws.com/role-arn"]
        assert role.endswith(f"/invoice-webhook-{name}")
    replicas = named(objects, "HorizontalPodAutoscaler", "web")["spec"]
    assert (replicas["minReplicas"], replicas["maxReplicas"]) == (3, 12)
    assert named(objects, "Deployment", "web")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 110
    assert "elbv2.k8s.aws/pod-readiness-gate-inject" in of(objects, "Namespace")[0]["metadata"]["labels"]


def test_patches_at_the_end_of_the_file_are_an_error(tmp_path: Path) -> None:
    """The block has no key of its own: kustomize rejects it in the wrong place, and does not replace a list."""
    copy = _copy(tmp_path)
    with copy.open("a", encoding="utf-8") as file:
        file.write(_blocks()[1])
    with pytest.raises(AssertionError, match="unknown field"):
        kustomize(copy.parent)
