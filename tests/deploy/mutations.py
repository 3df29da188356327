"""Mutations of the rendered manifests, each of which violates its rule."""

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.deploy import keda, lifecycle, network, policy


def _set(kind: str, path: str, value: Any, name: str = "web") -> Callable[[list[Any]], None]:
    """A mutation: in the object `kind` of that name, `path` becomes `value` (… deletes it)."""

    def mutate(objects: list[Any]) -> None:
        at: Any = next(o for o in objects if o["kind"] == kind and o["metadata"]["name"] in (name, "invoice-webhook"))
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
        policy.container(policy.named(objects, "Deployment", "web"))["env"] = [{"name": name, "value": value}]

    return mutate


_POD = partial(_set, "Deployment")
_WORKER = partial(_set, "Deployment", name="worker")
_SCALED = partial(_set, "ScaledObject", name="worker")
_METADATA = "spec/triggers/0/metadata"
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
        _WORKER(f"{_C}/envFrom/1", {"secretRef": {"name": "web-basic-auth-0"}}),
        _WORKER(f"{_C}/env", [{"name": "APP_DEAD_LETTER_QUEUE_URL", "value": ""}]),
        _WORKER(f"{_C}/env", [{"name": "APP_CHARGEBEE_URL", "value": ""}]),
        _WORKER(f"{_C}/env", [{"name": "APP_BILLING_LEASE", "value": "10"}]),
    ],
    lifecycle.probes: [
        _POD(f"{_C}/livenessProbe/timeoutSeconds", 1),
        _POD(f"{_C}/livenessProbe/failureThreshold", 3),
        _POD(f"{_C}/livenessProbe/httpGet/path", "/readyz"),
        _POD(f"{_C}/readinessProbe", ...),
        _POD(f"{_C}/readinessProbe/failureThreshold", 1),
        _POD(f"{_C}/startupProbe/failureThreshold", 10),
        _WORKER(f"{_C}/livenessProbe/failureThreshold", 3),
        _WORKER(f"{_C}/readinessProbe/httpGet/port", "metrics"),
    ],
    lifecycle.stops: [
        _POD("spec/strategy/rollingUpdate/maxUnavailable", 1),
        _POD("spec/replicas", 2),
        _POD(f"{_C}/lifecycle", ...),
        _POD("spec/template/spec/terminationGracePeriodSeconds", 53),
        _WORKER("spec/template/spec/terminationGracePeriodSeconds", 30),
        _WORKER("spec/replicas", 2),
    ],
    network.selectors: [
        _set("PodDisruptionBudget", "spec/selector/matchLabels", {"app.kubernetes.io/name": "invoice-webhook"}),
        _set("NetworkPolicy", "metadata/name", "web-2", "worker"),
        _WORKER("spec/selector/matchLabels", {"app.kubernetes.io/name": "invoice-webhook"}),
        _set("Service", "spec/selector", {"app": "web"}),
        _set("PodDisruptionBudget", "spec/selector/matchLabels", {"app": "web"}),
        _set("NetworkPolicy", "spec/podSelector/matchLabels", {"app": "web"}),
        _POD("spec/template/spec/topologySpreadConstraints/0/labelSelector/matchLabels", {"app": "web"}),
        _POD("spec/template/spec/topologySpreadConstraints", []),
    ],
    lifecycle.budgets: [
        _set("HorizontalPodAutoscaler", "spec/scaleTargetRef/name", "worker"),
        _set("HorizontalPodAutoscaler", "spec/minReplicas", 1),
        _set("HorizontalPodAutoscaler", "spec/maxReplicas", 1, "worker"),
        _set("PodDisruptionBudget", "spec/maxUnavailable", 2),
        _set("PodDisruptionBudget", "spec/minAvailable", 2),
    ],
    network.network: [
        _set("NetworkPolicy", "spec/egress/1/to/0/ipBlock/except", [], "worker"),
        _set("NetworkPolicy", "spec/egress/1/ports", [{"port": 80}], "worker"),
        _set("NetworkPolicy", "spec/egress/0/to", [{"ipBlock": {"cidr": "0.0.0.0/0"}}]),
        _set("NetworkPolicy", "spec/policyTypes", ["Ingress"]),
        _set("NetworkPolicy", "spec/ingress/0/ports", ...),
        _set("NetworkPolicy", "spec/ingress/0/from", [{"ipBlock": {"cidr": "0.0.0.0/0"}}]),
        _set("NetworkPolicy", "spec/egress/0/to", [{"namespaceSelector": {}}]),
        _set("NetworkPolicy", "spec/ingress/0/from", [{"podSelector": {"matchLabels": {"a": "invoice-webhook"}}}]),
    ],
    network.needed: [
        _set("NetworkPolicy", "spec/egress/0/ports", [{"port": 53, "protocol": "UDP"}]),
        _set("NetworkPolicy", "spec/egress/0/to", [{"podSelector": {"matchLabels": {"k8s-app": "dns"}}}]),
        _set("NetworkPolicy", "spec/egress/0/to/0/namespaceSelector", {"matchLabels": {"a": "default"}}),
        _set("NetworkPolicy", "metadata/name", "web-2", "web-kind"),
        _set("NetworkPolicy", "spec/egress", [], "web-kind"),
        _set("NetworkPolicy", "spec/ingress/0/ports", [{"port": "metrics"}], "web-kind"),
        _set("NetworkPolicy", "spec/egress/2", ..., "worker-kind"),
    ],
    network.ingress_of_a_worker: [_set("NetworkPolicy", "spec/ingress/0/ports", [{"port": "health"}], "worker")],
    keda.schema: [
        _SCALED("spec/minReplicas", 1),
        _SCALED("spec/pollingInterval", "15"),
        _SCALED(f"{_METADATA}/queueLength", 20),
        _set("TriggerAuthentication", "spec/podIdentity/provider", "irsa", "worker"),
    ],
    keda.scaler: [
        _SCALED(f"{_METADATA}/queueUrlFromEnv", "APP_SQS_QUEUE_URL"),
        _SCALED(f"{_METADATA}/queueURLFromEnv", "APP_QUEUE_URL"),
        _SCALED(f"{_METADATA}/queueURLFromEnv", ...),
        _SCALED(f"{_METADATA}/scaleOnInFlight", "false"),
        _SCALED("spec/triggers/0/metricType", ...),
        _set("TriggerAuthentication", "spec/env", [], "worker"),
    ],
}
