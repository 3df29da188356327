"""Runs code in a pod with a chosen label and namespace, to test which connections are allowed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from tests.cluster.cluster import NAMESPACE, KubectlError, get, kubectl, wait_for

NAME = "invoice-webhook-client"


def output_of(code: str, *arguments: str, label: str, namespace: str = NAMESPACE) -> str:
    """Returns what `code` prints in a pod whose app.kubernetes.io/name is `label`, and deletes the pod."""
    container = {
        "name": "client",
        "image": "invoice-webhook:dev",
        "command": ["python", "-c", code, *arguments],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": NAME, "namespace": namespace, "labels": {"app.kubernetes.io/name": label}},
        "spec": {
            "restartPolicy": "Never",
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [container],
        },
    }
    there = ("--namespace", namespace)
    kubectl(*there, "delete", "pod", NAME, "--ignore-not-found", "--wait")
    kubectl(*there, "apply", "--filename", "-", stdin=json.dumps(pod))
    try:
        wait_for(
            f"the end of pod {NAME}", lambda: get("pod", NAME, *there)["status"]["phase"] in ("Succeeded", "Failed")
        )
        return kubectl(*there, "logs", NAME).strip()
    finally:
        kubectl(*there, "delete", "pod", NAME, "--wait=false")


@contextmanager
def namespace(name: str) -> Iterator[None]:
    """Uses the cluster's namespace of that name, or creates one and deletes it when the context ends."""
    try:
        kubectl("create", "namespace", name)
    except KubectlError as error:
        if "AlreadyExists" not in str(error):
            raise
        yield
        return
    try:
        yield
    finally:
        kubectl("delete", "namespace", name, "--wait")
