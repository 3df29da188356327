"""Rules on rendered manifests: each function yields a text per violation."""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from app.settings import Settings
from app.settings.text import unknown_variables

Objects = list[Any]


def of(objects: Objects, kind: str) -> list[Any]:
    return [found for found in objects if found["kind"] == kind]


def web(objects: Objects) -> Any:
    """The Deployment of the service."""
    (found,) = (deployment for deployment in of(objects, "Deployment") if deployment["metadata"]["name"] == "web")
    return found


def restricted(objects: Objects) -> Iterator[str]:
    """All of Pod Security "restricted", and a read-only root.

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
        for container in pod["containers"] + pod.get("initContainers", []):
            yield from _container(name, container)


def _container(name: str, container: Any) -> Iterator[str]:
    context = container.get("securityContext", {})
    if context.get("allowPrivilegeEscalation") is not False or context.get("privileged"):
        yield f"{name}: may gain privileges"
    if context.get("capabilities") != {"drop": ["ALL"]}:
        yield f"{name}: keeps capabilities"
    if context.get("readOnlyRootFilesystem") is not True:
        yield f"{name}: root is writable"
    if context.get("runAsUser") == 0 or context.get("runAsNonRoot") is False or "seccompProfile" in context:
        yield f"{name}: the container overrides the pod's securityContext"
    if any("hostPort" in port for port in container.get("ports", [])):
        yield f"{name}: uses a port of the node"
    tag = container["image"].rpartition("/")[2].partition(":")[2]
    if tag in ("", "latest"):
        yield f"{name}: image {container['image']} is not pinned"
    resources = container.get("resources", {})
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
    """As published: 250m and 256 Mi requested, a limit of 512 Mi, no CPU limit unless the component sets one."""
    found = web(objects)["spec"]["template"]["spec"]["containers"][0]["resources"]
    limits = {"memory": "512Mi", **({"cpu": "250m"} if capped else {})}
    if found != {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": limits}:
        yield f"resources are {found}"


def settings(objects: Objects) -> Iterator[str]:
    """The service would start with its variables; each comes from an existing object."""
    there = {found["metadata"]["name"]: found for found in of(objects, "ConfigMap") + of(objects, "Secret")}
    given: dict[str, str] = {}
    container = web(objects)["spec"]["template"]["spec"]["containers"][0]
    for source in container["envFrom"]:
        name = next(iter(source.values()))["name"]
        if name not in there and name != "web-basic-auth":  # on a real cluster not part of these manifests
            yield f"{name} is referenced but missing"
        elif name in there and there[name]["kind"] == "ConfigMap":
            given |= there[name]["data"]
            if name == "web":
                yield "the ConfigMap's name has no hash: a change would not start a roll-out"
    given |= {variable["name"]: variable.get("value", "") for variable in container.get("env", [])}
    yield from unknown_variables(given, Settings)
    known = {name[4:].lower(): value for name, value in given.items() if name[4:].lower() in Settings.model_fields}
    try:
        Settings.model_validate(known)
    except ValidationError as error:
        yield str(error)
    if not known.get("sqs_queue_url") or "AWS_DEFAULT_REGION" not in given:
        yield "no queue or no region"
