"""Rules on rendered manifests: each function yields a text per violation."""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from app.settings import WebSettings, WorkerSettings
from app.settings.text import unknown_variables

Objects = list[Any]

# What each process cannot start without, and the Secret that a real cluster brings.
_REQUIRED = {
    "web": {"sqs_queue_url"},
    "worker": {"sqs_queue_url", "dead_letter_queue_url", "billing_table", "chargebee_url"},
}
_SECRETS = {"web": "web-basic-auth", "worker": "worker-chargebee"}
PROCESSES = tuple(_REQUIRED)


def of(objects: Objects, kind: str) -> list[Any]:
    return [found for found in objects if found["kind"] == kind]


def named(objects: Objects, kind: str, name: str) -> Any:
    """The one object of that kind and name."""
    (found,) = (candidate for candidate in of(objects, kind) if candidate["metadata"]["name"] == name)
    return found


def processes(objects: Objects) -> list[tuple[str, Any]]:
    """The Deployments of the service itself, by name."""
    return [(name, named(objects, "Deployment", name)) for name in PROCESSES]


def container(deployment: Any) -> Any:
    """Returns the Deployment's only container."""
    (found,) = deployment["spec"]["template"]["spec"]["containers"]
    return found


def restricted(objects: Objects) -> Iterator[str]:
    """Workloads conform to Pod Security "restricted", and have a read-only root.

    https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
    """
    for workload in of(objects, "Deployment") + of(objects, "Job"):
        pod, name = workload["spec"]["template"]["spec"], workload["metadata"]["name"]
        context = pod.get("securityContext", {})
        if context.get("runAsNonRoot") is not True or not context.get("runAsUser"):
            yield f"{name}: may run as root"
        if context.get("seccompProfile") != {"type": "RuntimeDefault"}:
            yield f"{name}: no seccomp profile"
        if pod.get("automountServiceAccountToken") is not False:
            yield f"{name}: mounts a token of the API"
        if any(pod.get(shared) for shared in ("hostNetwork", "hostPID", "hostIPC")):
            yield f"{name}: shares the node's namespaces"
        for volume in pod.get("volumes", []):
            if not set(volume) <= {"name", "configMap", "emptyDir", "secret", "projected"}:
                yield f"{name}: volume {volume['name']} is of a kind that is not allowed"
        for each in pod["containers"] + pod.get("initContainers", []):
            yield from _container(name, each)


def _container(name: str, found: Any) -> Iterator[str]:
    context = found.get("securityContext", {})
    if context.get("allowPrivilegeEscalation") is not False or context.get("privileged"):
        yield f"{name}: may gain privileges"
    if context.get("capabilities") != {"drop": ["ALL"]}:
        yield f"{name}: keeps capabilities"
    if context.get("readOnlyRootFilesystem") is not True:
        yield f"{name}: root is writable"
    if context.get("runAsUser") == 0 or context.get("runAsNonRoot") is False or "seccompProfile" in context:
        yield f"{name}: the container overrides the pod's securityContext"
    if any("hostPort" in port for port in found.get("ports", [])):
        yield f"{name}: uses a port of the node"
    tag = found["image"].rpartition("/")[2].partition(":")[2]
    if tag in ("", "latest"):
        yield f"{name}: image {found['image']} is not pinned"
    resources = found.get("resources", {})
    if not {"cpu", "memory"} <= set(resources.get("requests", {})) or "memory" not in resources.get("limits", {}):
        yield f"{name}: requests or memory limit are missing"


def enforced(objects: Objects) -> Iterator[str]:
    """The namespace enforces restricted, and contains all objects."""
    (namespace,) = of(objects, "Namespace")
    if namespace["metadata"]["labels"].get("pod-security.kubernetes.io/enforce") != "restricted":
        yield "the namespace does not enforce restricted"
    for found in objects:
        if found is not namespace and found["metadata"].get("namespace") != namespace["metadata"]["name"]:
            yield f"{found['kind']} {found['metadata']['name']} is in another namespace"


def resources(objects: Objects, *, capped: bool) -> Iterator[str]:
    """Requests are 250m and 256 Mi, as published. The limit is 512 Mi and, only if `capped`, a quarter of a core."""
    limits = {"memory": "512Mi", **({"cpu": "250m"} if capped else {})}
    for name, deployment in processes(objects):
        found = container(deployment)["resources"]
        if found != {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": limits}:
            yield f"{name}: resources are {found}"


def settings(objects: Objects) -> Iterator[str]:
    """Each process would start with its variables, and each variable comes from an existing object."""
    for name, deployment in processes(objects):
        given, missing = environment(objects, deployment)
        yield from (f"{source} is referenced but missing" for source in missing if source != _SECRETS[name])
        read = WorkerSettings if name == "worker" else WebSettings
        yield from unknown_variables(given, [read])
        known = {key[4:].lower(): value for key, value in given.items() if key[4:].lower() in read.model_fields}
        try:
            read.model_validate(known)
        except ValidationError as error:
            yield str(error)
        if "AWS_DEFAULT_REGION" not in given or not all(known.get(setting) for setting in _REQUIRED[name]):
            yield f"{name}: no region, or none of {', '.join(sorted(_REQUIRED[name]))}"
        if any(source.get("configMapRef", {}).get("name") == name for source in container(deployment)["envFrom"]):
            yield f"the ConfigMap {name} has no hash in its name: a change would not start a roll-out"


def environment(objects: Objects, deployment: Any) -> tuple[dict[str, str], list[str]]:
    """Returns the container's variables, without those of Secrets, and the referenced objects that do not exist."""
    there = {found["metadata"]["name"]: found for found in of(objects, "ConfigMap") + of(objects, "Secret")}
    given: dict[str, str] = {}
    missing = []
    for source in container(deployment).get("envFrom", []):
        name = next(iter(source.values()))["name"]
        if name not in there:
            missing.append(name)
        elif there[name]["kind"] == "ConfigMap":
            given |= there[name]["data"]
    given |= {variable["name"]: variable.get("value", "") for variable in container(deployment).get("env", [])}
    return given, missing
