"""The rules and patches for other clusters in deploy/k8s/OTHER_CLUSTERS.md, applied to the overlay for AWS."""

import os
import re
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.deploy.policy import container, named, of, processes
from tests.deploy.rendering import K8S, kustomize
from tests.deploy.test_manifests import KUBERNETES


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Returns the objects of a copy of the overlay, to which all rules and patches are added."""
    section = (K8S / "OTHER_CLUSTERS.md").read_text(encoding="utf-8")
    rules, patches = re.findall(r"^```yaml\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "policies.yaml").write_text(rules, encoding="utf-8")
    overlay = os.path.relpath(K8S / "overlays" / "aws", folder.resolve())
    kustomization = {"namespace": "invoice-webhook", "resources": [overlay, "policies.yaml"], **yaml.safe_load(patches)}
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization), encoding="utf-8")
    return kustomize(folder)


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
