"""kubectl as a subprocess, in the one namespace; and waiting for a condition instead of sleeping."""

import json
import subprocess
import time
from collections.abc import Callable
from typing import Any, TypeVar

NAMESPACE = "invoice-webhook"
T = TypeVar("T")
WEB = "app.kubernetes.io/component=web"


class KubectlError(Exception):
    """The command and what kubectl wrote to standard error."""


def kubectl(*arguments: str, stdin: str | None = None, timeout: float = 300) -> str:
    """Returns its standard output. Raises KubectlError."""
    command = ["kubectl", "--namespace", NAMESPACE, *arguments]
    ended = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout, check=False)
    if ended.returncode:
        raise KubectlError(f"kubectl {' '.join(arguments)}: {ended.stderr.strip()}")
    return ended.stdout


def get(*what: str) -> Any:
    """An object, or a list of them."""
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


def web_pods() -> list[Any]:
    """All web pods, including terminating ones."""
    pods: list[Any] = get("pods", "--selector", WEB)
    return pods


def is_ready(pod: Any) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def settled(count: int, seconds: float = 240) -> list[Any]:
    """The web pods, once there are `count` of them, all ready and up to date."""

    def look() -> list[Any]:
        pods = web_pods()
        deployment = get("deployment", "web")
        current = deployment["status"].get("observedGeneration") == deployment["metadata"]["generation"]
        updated = deployment["status"].get("updatedReplicas") == count
        return pods if current and updated and len(pods) == count and all(map(is_ready, pods)) else []

    return wait_for(f"{count} ready pods and no others", look, seconds)


def restarts() -> int:
    """The number of restarts of web containers, in total."""
    return sum(status["restartCount"] for pod in web_pods() for status in pod["status"].get("containerStatuses", []))


def python(pod: str, code: str, timeout: float = 60) -> str:
    """What `code` prints inside a web pod."""
    return kubectl("exec", pod, "--", "python", "-c", code, timeout=timeout).strip()


def service_api(service: str, path: str, body: Any = None) -> str:
    """A request to a Service through the API server, without a client inside the cluster."""
    raw = f"/api/v1/namespaces/{NAMESPACE}/services/{service}/proxy{path}"
    if body is None:
        return kubectl("get", "--raw", raw)
    return kubectl("create", "--raw", raw, "--filename", "-", stdin=json.dumps(body))


def queued() -> int:
    """Messages in the queue."""
    answer = service_api(
        "elasticmq:sqs",
        "/000000000000/invoice-webhooks?Action=GetQueueAttributes&AttributeName.1=ApproximateNumberOfMessages",
    )
    return int(answer.partition("<Value>")[2].partition("<")[0])


def purge() -> None:
    """Empties the queue: the audit fails on messages that it has not sent."""
    service_api("elasticmq:sqs", "/000000000000/invoice-webhooks?Action=PurgeQueue")


def set_latency(milliseconds: int) -> None:
    """Sets toxiproxy's latency on the queue's responses."""
    toxic = {"name": "latency", "type": "latency", "attributes": {"latency": milliseconds}}
    service_api("toxiproxy:api", "/reset", {})  # removes all toxics: https://github.com/Shopify/toxiproxy#http-api
    service_api("toxiproxy:api", "/proxies/sqs/toxics", toxic)
