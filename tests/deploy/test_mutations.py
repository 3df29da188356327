"""Each rule can fail: mutations of the rendered manifests that violate it must be found."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import pytest

from tests.deploy import lifecycle, policy
from tests.deploy.rendering import rendered
from tests.deploy.test_manifests import RULES


def _set(kind: str, path: str, value: Any) -> Callable[[list[Any]], None]:
    """A mutation: in the object `kind` called web, `path` becomes `value` (… deletes it)."""

    def mutate(objects: list[Any]) -> None:
        at: Any = next(o for o in objects if o["kind"] == kind and o["metadata"]["name"] in ("web", "invoice-webhook"))
        *way, last = [int(step) if step.isdigit() else step for step in path.split("/")]
        for step in way:
            at = at[step]
        if value is ...:
            del at[last]
        else:
            at[last] = value

    return mutate


def _flag(name: str, value: str) -> Callable[[list[Any]], None]:
    def mutate(objects: list[Any]) -> None:
        policy.web(objects)["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": name, "value": value}]

    return mutate


_POD = partial(_set, "Deployment")
_C = "spec/template/spec/containers/0"
MUTATIONS = {
    policy.restricted: [
        _POD("spec/template/spec/securityContext/runAsNonRoot", False),
        _POD("spec/template/spec/securityContext/runAsUser", 0),
        _POD("spec/template/spec/securityContext/seccompProfile", ...),
        _POD("spec/template/spec/automountServiceAccountToken", ...),
        _POD("spec/template/spec/hostNetwork", True),
        _POD("spec/template/spec/volumes", [{"name": "x", "hostPath": {"path": "/"}}]),
        _POD(f"{_C}/securityContext/allowPrivilegeEscalation", ...),
        _POD(f"{_C}/securityContext/privileged", True),
        _POD(f"{_C}/securityContext/capabilities", {"drop": ["ALL"], "add": ["NET_ADMIN"]}),
        _POD(f"{_C}/securityContext/readOnlyRootFilesystem", ...),
        _POD(f"{_C}/securityContext/runAsUser", 0),
        _POD(f"{_C}/ports", [{"containerPort": 8000, "hostPort": 80}]),
        _POD(f"{_C}/image", "invoice-webhook:latest"),
        _POD(f"{_C}/image", "registry:5000/invoice-webhook"),
        _POD(f"{_C}/resources/limits", ...),
    ],
    policy.enforced: [
        _set("Namespace", "metadata/labels", {"pod-security.kubernetes.io/enforce": "baseline"}),
        _set("Service", "metadata/namespace", "default"),
    ],
    policy.settings: [
        _flag("APP_RELAESE", "v02_blocking"),
        _flag("APP_RELEASE", "v99"),
        _flag("APP_SQS_QUEUE_URL", ""),
        _POD(f"{_C}/envFrom", [{"configMapRef": {"name": "web-0"}}]),
    ],
    lifecycle.probes: [
        _POD(f"{_C}/livenessProbe/timeoutSeconds", 1),
        _POD(f"{_C}/livenessProbe/failureThreshold", 3),
        _POD(f"{_C}/livenessProbe/httpGet/path", "/readyz"),
        _POD(f"{_C}/readinessProbe", ...),
        _POD(f"{_C}/readinessProbe/failureThreshold", 1),
        _POD(f"{_C}/startupProbe/failureThreshold", 10),
    ],
    lifecycle.stops: [
        _POD("spec/strategy/rollingUpdate/maxUnavailable", 1),
        _POD("spec/replicas", 2),
        _POD(f"{_C}/lifecycle", ...),
        _POD("spec/template/spec/terminationGracePeriodSeconds", 42),
    ],
    lifecycle.selectors: [
        _set("Service", "spec/selector", {"app": "web"}),
        _set("PodDisruptionBudget", "spec/selector/matchLabels", {"app": "web"}),
        _set("NetworkPolicy", "spec/podSelector/matchLabels", {"app": "web"}),
        _POD("spec/template/spec/topologySpreadConstraints/0/labelSelector/matchLabels", {"app": "web"}),
        _POD("spec/template/spec/topologySpreadConstraints", []),
    ],
    lifecycle.budgets: [
        _set("HorizontalPodAutoscaler", "spec/scaleTargetRef/name", "worker"),
        _set("HorizontalPodAutoscaler", "spec/minReplicas", 1),
        _set("PodDisruptionBudget", "spec/maxUnavailable", 2),
        _set("PodDisruptionBudget", "spec/minAvailable", 2),
    ],
    lifecycle.network: [
        _set("NetworkPolicy", "spec/policyTypes", ["Ingress"]),
        _set("NetworkPolicy", "spec/ingress/0/ports", ...),
        _set("NetworkPolicy", "spec/ingress/0/from", [{"ipBlock": {"cidr": "0.0.0.0/0"}}]),
        _set("NetworkPolicy", "spec/egress/0/to", [{"namespaceSelector": {}}]),
        _set("NetworkPolicy", "spec/ingress/0/from", [{"podSelector": {"matchLabels": {"a": "invoice-webhook"}}}]),
    ],
}


@pytest.mark.parametrize(("rule", "mutate"), [(rule, mutate) for rule, some in MUTATIONS.items() for mutate in some])
def test_rules_can_fail(rule: Callable[..., Any], mutate: Callable[[list[Any]], None]) -> None:
    """Each mutation violates its rule."""
    objects = deepcopy(rendered("kind", ()))
    mutate(objects)
    assert list(rule(objects)) != []


def test_resources_can_fail() -> None:
    """An unexpected limit, and a missing one."""
    assert list(policy.resources(rendered("kind", ("cpu-cap",)), capped=False)) != []
    assert list(policy.resources(rendered("kind", ()), capped=True)) != []


def test_no_rule_is_left_out() -> None:
    """A rule without a mutation might never fail."""
    assert set(MUTATIONS) == set(RULES)
