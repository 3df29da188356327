"""deploy/k8s without a cluster: it builds, conforms to Kubernetes' schema and violates no rule."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import kubernetes_validate
import pytest

from tests.deploy import keda, lifecycle, network, policy
from tests.deploy.rendering import COMBINATIONS, ROOT, kustomize, rendered

KUBERNETES = "1.34"
RULES = [
    policy.restricted,
    policy.enforced,
    policy.settings,
    lifecycle.probes,
    lifecycle.stops,
    lifecycle.budgets,
    network.selectors,
    network.network,
    network.needed,
    network.ingress_of_a_worker,
    keda.schema,
    keda.scaler,
]


def test_there_is_something_to_check() -> None:
    """There are two overlays, each with every combination of three components."""
    parts = [
        "",
        "cpu-cap",
        "keda",
        "release",
        "cpu-cap-keda",
        "cpu-cap-release",
        "keda-release",
        "cpu-cap-keda-release",
    ]
    assert [("-".join(parts)) for _, parts in COMBINATIONS] == parts * 2
    assert sorted({overlay for overlay, _ in COMBINATIONS}) == ["aws", "kind"]


@pytest.mark.parametrize(("overlay", "components"), COMBINATIONS)
def test_schema(overlay: str, components: tuple[str, ...]) -> None:
    """Every object conforms to Kubernetes' schema, without unknown fields. (KEDA's have a rule of their own.)"""
    objects = [found for found in rendered(overlay, components) if found["kind"] not in keda.SCHEMAS]
    assert len(objects) >= len(rendered(overlay, components)) - 2
    for found in objects:
        kubernetes_validate.validate(found, KUBERNETES, strict=True)


def test_schema_rejects_a_typo() -> None:
    """The validator is strict inside of containers too."""
    deployment = deepcopy(policy.named(rendered("kind", ()), "Deployment", "web"))
    policy.container(deployment)["livenessProbes"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, KUBERNETES, strict=True)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize(("overlay", "components"), COMBINATIONS)
def test_rule(rule: Callable[..., Any], overlay: str, components: tuple[str, ...]) -> None:
    """Each rule finds no violation."""
    assert list(rule(rendered(overlay, components))) == []


@pytest.mark.parametrize(("overlay", "components"), COMBINATIONS)
def test_resources(overlay: str, components: tuple[str, ...]) -> None:
    """Requests and limits are as published; only the component sets a CPU limit."""
    assert list(policy.resources(rendered(overlay, components), capped="cpu-cap" in components)) == []


def test_the_release_component() -> None:
    """One line names the release, and a change of it changes the ConfigMap's name."""
    plain, old = rendered("kind", ()), rendered("kind", ("release",))
    names = [policy.container(policy.named(objects, "Deployment", "web"))["envFrom"][0] for objects in (plain, old)]
    assert names[0] != names[1]
    data = next(found["data"] for found in old if found["metadata"]["name"] == names[1]["configMapRef"]["name"])
    assert data["APP_RELEASE"] == "v02_blocking"


def test_the_load_tests_job() -> None:
    """The Job conforms to schema and `restricted`, is in the service's namespace, and a NetworkPolicy admits it."""
    (job,) = kustomize(ROOT / "loadtest" / "in-cluster")
    kubernetes_validate.validate(job, KUBERNETES, strict=True)
    assert list(policy.restricted([job])) == []
    assert job["metadata"]["namespace"] == "invoice-webhook"
    peers = [
        peer.get("podSelector", {}).get("matchLabels")
        for found in policy.of(rendered("kind", ()), "NetworkPolicy")
        for rule in found["spec"].get("ingress", [])
        for peer in rule["from"]
        if "namespaceSelector" not in peer
    ]
    assert job["spec"]["template"]["metadata"]["labels"] in peers


@pytest.mark.parametrize(("overlay", "components"), COMBINATIONS)
def test_metrics_are_for_prometheus_alone(overlay: str, components: tuple[str, ...]) -> None:
    """No Service has the port for metrics. Only Prometheus is admitted to it, and to no other port."""
    objects = rendered(overlay, components)
    ports = {port["targetPort"] for found in policy.of(objects, "Service") for port in found["spec"]["ports"]}
    assert not ports & {"metrics", 9464}
    rules = [rule for found in policy.of(objects, "NetworkPolicy") for rule in found["spec"].get("ingress", [])]
    prometheus = {"app.kubernetes.io/name": "prometheus"}
    admitted = [
        ([peer.get("podSelector", {}).get("matchLabels") for peer in rule["from"]], rule["ports"]) for rule in rules
    ]
    assert [found for found in admitted if {"port": "metrics"} in found[1] or prometheus in found[0]] == [
        ([prometheus], [{"port": "metrics"}])
    ] * 2
