"""Rules on the life cycle in a cluster: probes, stops, and the objects that select the same pods."""

from collections.abc import Iterator
from typing import Any

from app.web.server.graceful import LAST_ACCEPT_SECONDS, LAST_CALL_SECONDS
from tests.deploy.policy import Objects, of, web

_LAST_CALL = LAST_ACCEPT_SECONDS + LAST_CALL_SECONDS


def _data(objects: Objects) -> Any:
    return next(found for found in of(objects, "ConfigMap") if found["metadata"]["name"].startswith("web-"))["data"]


def probes(objects: Objects) -> Iterator[str]:
    """Removed from the endpoints long before a restart, and not restarted while busy."""
    container = web(objects)["spec"]["template"]["spec"]["containers"][0]
    paths = {"startupProbe": "/readyz", "readinessProbe": "/readyz", "livenessProbe": "/healthz"}
    for name, path in paths.items():
        if container.get(name, {}).get("httpGet") != {"path": path, "port": "http"}:
            yield f"{name} does not probe {path}"
            return
    patience = {name: container[name]["periodSeconds"] * container[name]["failureThreshold"] for name in paths}
    if patience["startupProbe"] < 60:
        yield "the start has less than a minute"
    if patience["livenessProbe"] < 300 or container["livenessProbe"]["timeoutSeconds"] < 30:
        yield "liveness would restart a busy container"
    if not 15 <= patience["readinessProbe"] <= patience["livenessProbe"] / 2:
        yield "readiness must fail well before liveness, and not at once"


def stops(objects: Objects) -> Iterator[str]:
    """The grace period covers the whole stop, and a roll-out never reduces the number of pods."""
    deployment = web(objects)["spec"]
    if deployment["strategy"].get("rollingUpdate", {}).get("maxUnavailable") != 0:
        yield "a roll-out may remove pods first"
    if "replicas" in deployment:
        yield "replicas are set, which the HPA controls"
    pod = deployment["template"]["spec"]
    pause = pod["containers"][0].get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    if pause < 5:
        yield "preStop is too short for the endpoints' update"
    drain, graceful = (float(_data(objects).get(name, 0)) for name in ("APP_DRAIN_DELAY", "APP_GRACEFUL_TIMEOUT"))
    if not drain or not graceful:
        yield "APP_DRAIN_DELAY and APP_GRACEFUL_TIMEOUT are not set"
    if pod.get("terminationGracePeriodSeconds", 30) < pause + drain + _LAST_CALL + graceful:
        yield "the grace period ends before the stop does"


def selectors(objects: Objects) -> Iterator[str]:
    """Service, PDB, HPA, spread and NetworkPolicies select the web pods, and peers are other pods."""
    template = web(objects)["spec"]["template"]
    labels = template["metadata"]["labels"]
    chosen = [
        (found["spec"]["selector"], found) for found in of(objects, "Service") if found["metadata"]["name"] == "web"
    ]
    chosen += [(found["spec"]["selector"]["matchLabels"], found) for found in of(objects, "PodDisruptionBudget")]
    chosen += [(found["spec"]["podSelector"]["matchLabels"], found) for found in of(objects, "NetworkPolicy")]
    spread = template["spec"]["topologySpreadConstraints"]
    chosen += [(constraint["labelSelector"]["matchLabels"], web(objects)) for constraint in spread]
    if {constraint["topologyKey"] for constraint in spread} != {
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
    }:
        yield "pods are not spread over nodes and zones"
    if {found["kind"] for _, found in chosen} != {"Service", "PodDisruptionBudget", "NetworkPolicy", "Deployment"}:
        yield "Service, PodDisruptionBudget or NetworkPolicy is missing"
    for selector, found in chosen:
        if not selector.items() <= labels.items():
            yield f"{found['kind']} {found['metadata']['name']} selects other pods"


def budgets(objects: Objects) -> Iterator[str]:
    """The HPA scales this Deployment, from two pods up, and the PDB leaves one of them."""
    ((hpa,), (pdb,)) = of(objects, "HorizontalPodAutoscaler"), of(objects, "PodDisruptionBudget")
    if hpa["spec"]["scaleTargetRef"] != {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}:
        yield "the HPA scales something else"
    least, most = hpa["spec"]["minReplicas"], hpa["spec"]["maxReplicas"]
    if not 2 <= least < most:
        yield "the HPA's range is empty or starts below two"
    if pdb["spec"].get("maxUnavailable") != 1 or "minAvailable" in pdb["spec"]:
        yield "the PDB blocks drains, or allows more than one eviction"


def network(objects: Objects) -> Iterator[str]:
    """Ingress and egress are closed except for listed peers; no rule allows all peers or all ports."""
    for policy in of(objects, "NetworkPolicy"):
        name, spec = policy["metadata"]["name"], policy["spec"]
        if spec["policyTypes"] != ["Ingress", "Egress"]:
            yield f"{name} leaves ingress or egress open"
        for rule in spec.get("ingress", []) + spec.get("egress", []):
            peers = rule.get("from", []) + rule.get("to", [])
            if not peers or not rule.get("ports"):
                yield f"{name} has a rule for all peers or all ports"
            for peer in peers:
                if peer.get("ipBlock", {}).get("cidr", "").endswith("/0") or {} in peer.values():
                    yield f"{name} allows all peers"
                if "invoice-webhook" in str(peer.get("podSelector")):
                    yield f"{name} names the service itself as a peer"
