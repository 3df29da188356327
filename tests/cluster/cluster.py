"""Runs kubectl in the service's namespace, and waits for conditions."""

import json
import subprocess
import time
from collections.abc import Callable
from typing import Any, TypeVar

NAMESPACE = "invoice-webhook"
QUEUE, DEAD_LETTERS = "invoice-webhooks", "invoice-webhooks-dead-letters"
T = TypeVar("T")


class KubectlError(Exception):
    """kubectl has failed. `str()` has the command, and kubectl's standard error."""


def kubectl(*arguments: str, stdin: str | None = None, timeout: float = 300) -> str:
    """Runs kubectl and returns its standard output. Raises KubectlError."""
    command = ["kubectl", "--namespace", NAMESPACE, *arguments]
    ended = subprocess.run(command, input=stdin, capture_output=True, encoding="utf-8", timeout=timeout, check=False)
    if ended.returncode:
        raise KubectlError(f"kubectl {' '.join(arguments)}: {ended.stderr.strip()}")
    return ended.stdout


def get(*what: str) -> Any:
    """Returns an object, or a list of objects."""
    answer = json.loads(kubectl("get", *what, "--output", "json"))
    return answer["items"] if answer["kind"] == "List" else answer


def wait_for(what: str, look: Callable[[], T], seconds: float = 180) -> T:
    """Calls `look` every 0.5 s and returns its first true result. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if answer := look():
                return answer
        except KubectlError:
            pass  # an error of the API server, or the object does not exist yet
        time.sleep(0.5)
    raise TimeoutError(f"{seconds:g} s passed without {what}")


def pods_of(process: str) -> list[Any]:
    """Returns all pods of `web` or `worker`, including terminating pods."""
    pods: list[Any] = get("pods", "--selector", f"app.kubernetes.io/component={process}")
    return pods


def web_pods() -> list[Any]:
    """Returns all web pods, including terminating pods."""
    return pods_of("web")


def is_ready(pod: Any) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def settled(count: int, seconds: float = 240, process: str = "web") -> list[Any]:
    """Waits until the process has exactly `count` pods, all ready and up to date, and returns them."""
    found: list[Any] = []

    def look() -> bool:
        found[:] = pods_of(process)
        deployment = get("deployment", process)
        current = deployment["status"].get("observedGeneration") == deployment["metadata"]["generation"]
        updated = deployment["status"].get("updatedReplicas", 0) == count
        return bool(current and updated and len(found) == count and all(map(is_ready, found)))

    wait_for(f"{count} ready {process} pods and no others", look, seconds)
    return found


def restarts(process: str = "web") -> int:
    """Returns the total number of restarts of the process's containers."""
    return sum(s["restartCount"] for pod in pods_of(process) for s in pod["status"].get("containerStatuses", []))


def python(pod: str, code: str, *arguments: str, timeout: float = 60) -> str:
    """Runs `code` inside a pod, and returns what it prints."""
    return kubectl("exec", pod, "--", "python", "-c", code, *arguments, timeout=timeout).strip()


def service_api(service: str, path: str, body: Any = None) -> str:
    """Sends a request to a Service through the API server, without a client inside the cluster."""
    raw = _proxied(service, path)
    if body is None:
        return kubectl("get", "--raw", raw)
    return kubectl("create", "--raw", raw, "--filename", "-", stdin=json.dumps(body))


def _proxied(service: str, path: str) -> str:
    return f"/api/v1/namespaces/{NAMESPACE}/services/{service}/proxy{path}"


def queued(queue: str = QUEUE, which: str = "ApproximateNumberOfMessages") -> int:
    """Returns how many messages of the queue are visible, or the value of another attribute, `which`."""
    return int(json.loads(service_api("sqs:sqs", f"/_stand-in/attributes?queue={queue}"))[which])


def purge(queue: str = QUEUE) -> None:
    """Empties the queue, because an attack's audit fails if the queue has messages that the attack has not sent."""
    kubectl("delete", "--raw", _proxied("sqs:sqs", f"/_stand-in/messages?queue={queue}"))


def set_latency(milliseconds: int) -> None:
    """Sets toxiproxy's latency on the queue's responses."""
    toxic = {"name": "latency", "type": "latency", "attributes": {"latency": milliseconds}}
    service_api("toxiproxy:api", "/reset", {})  # removes all toxics: https://github.com/Shopify/toxiproxy#http-api
    service_api("toxiproxy:api", "/proxies/sqs/toxics", toxic)
