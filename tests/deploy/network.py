"""Rules on which pods are selected, and which peers may connect."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from tests.deploy.policy import Objects, named, of, processes

_PRIVATE = {"10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"}


def selectors(objects: Objects) -> Iterator[str]:
    """Service, PDBs, spread and NetworkPolicies select the pods of the process that they are for, and no others."""
    labels = {name: deployment["spec"]["template"]["metadata"]["labels"] for name, deployment in processes(objects)}
    chosen = [("web", named(objects, "Service", "web")["spec"]["selector"], "Service")]
    for name, deployment in processes(objects):
        chosen.append((name, deployment["spec"]["selector"]["matchLabels"], "Deployment"))
        budget = named(objects, "PodDisruptionBudget", name)["spec"]["selector"]["matchLabels"]
        chosen.append((name, budget, "PodDisruptionBudget"))
        spread = deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]
        chosen += [(name, each["labelSelector"]["matchLabels"], "spread") for each in spread]
        if {each["topologyKey"] for each in spread} != {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}:
            yield f"{name}: pods are not spread over nodes and zones"
        policies = [found for found in of(objects, "NetworkPolicy") if _for(found) == name]
        chosen += [(name, found["spec"]["podSelector"]["matchLabels"], "NetworkPolicy") for found in policies]
        if not policies:
            yield f"{name}: no NetworkPolicy"
    for name, selector, kind in chosen:
        found = [each for each, its in labels.items() if selector.items() <= its.items()]
        if found != [name]:
            yield f"{kind} for {name} selects {found}"


def _for(policy: Any) -> str:
    """Returns the process that the policy is for: `worker-kind` is for the worker."""
    return str(policy["metadata"]["name"]).partition("-")[0]


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
            outside = _for(policy) == "worker" and "to" in rule and rule.get("ports") == [{"port": 443}]
            for peer in peers:
                yield from (f"{name} {flaw}" for flaw in _peer(peer, outside=outside))


def _peer(peer: Any, *, outside: bool) -> Iterator[str]:
    """`outside`: the rule is the worker's for HTTPS, which may name all addresses but the private ones."""
    block = peer.get("ipBlock", {})
    everywhere = block.get("cidr", "").endswith("/0")
    if {} in peer.values() or (everywhere and not (outside and set(block.get("except", [])) == _PRIVATE)):
        yield "allows all peers"
    if "invoice-webhook" in str(peer.get("podSelector")):
        yield "names the service itself as a peer"


# What a policy lets through: addresses or labels of a namespace and of its pods, and a port by its name or number.
# CoreDNS, and NodeLocal DNSCache: its pods on GKE's Dataplane V2, its address elsewhere.
_RESOLVERS = ("kube-system/kube-dns", "kube-system/node-local-dns", "169.254.20.10/32")
_DNS = set(product(_RESOLVERS, (53, "53/TCP", "dns", "dns-tcp")))
_ENDPOINTS, _POD_IDENTITY = ("10.0.16.0/24", 443), ("169.254.170.23/32", 80)
_SUBNETS = {(f"10.0.{number}.0/24", "http") for number in range(3)}
NEEDED: dict[str, set[tuple[str, object]]] = {
    "web": {*_DNS, ("ingress", "http"), ("loadtest", "http"), ("monitoring/prometheus", "metrics")},
    "worker": {*_DNS, ("0.0.0.0/0", 443), ("monitoring/prometheus", "metrics")},
    "web-kind": {("172.16.0.0/12", "http"), ("192.168.0.0/16", "http"), ("chargebee", "http"), ("toxiproxy", "sqs")},
    "worker-kind": {("toxiproxy", "sqs"), ("dynamodb", "dynamodb"), ("chargebee", "chargebee")},
    "web-aws": {*_SUBNETS, _ENDPOINTS, _POD_IDENTITY},
    "worker-aws": {_ENDPOINTS, _POD_IDENTITY},
}


def needed(objects: Objects) -> Iterator[str]:
    """Each policy lets through what its process needs: DNS, queue, table, Chargebee, load balancer and scrapes."""
    found = {policy["metadata"]["name"]: policy["spec"] for policy in of(objects, "NetworkPolicy")}
    if found.keys() not in [{"web", "worker", f"web-{overlay}", f"worker-{overlay}"} for overlay in ("kind", "aws")]:
        yield f"the policies are {', '.join(sorted(found))}"
    for name, spec in found.items():
        let_through: set[tuple[str, object]] = set()
        for rule in spec.get("ingress", []) + spec.get("egress", []):
            for peer, port in product(rule.get("from", []) + rule.get("to", []), rule.get("ports", [])):
                number = f"{port['port']}/TCP" if port == {"port": 53, "protocol": "TCP"} else port["port"]
                let_through.add((_named(peer), number))
        missing = NEEDED.get(name, set()) - let_through
        yield from (f"{name} does not let through {what}" for what in sorted(missing, key=str))


def _named(peer: Any) -> str:
    """Returns the peer's addresses, or the values of the labels of its namespace and of its pods."""
    if "ipBlock" in peer:
        return str(peer["ipBlock"]["cidr"])
    selectors = [peer[name]["matchLabels"] for name in ("namespaceSelector", "podSelector") if name in peer]
    return "/".join(value for labels in selectors for value in labels.values())


def ingress_of_a_worker(objects: Objects) -> Iterator[str]:
    """Only Prometheus may connect to a worker, and only to the port for metrics."""
    for policy in of(objects, "NetworkPolicy"):
        for rule in policy["spec"].get("ingress", []):
            if _for(policy) == "worker" and rule["ports"] != [{"port": "metrics"}]:
                yield f"{policy['metadata']['name']} lets in more than the scrape"
