"""A pod that connects to something, under a label and in a namespace of choice."""

import json

from tests.cluster.cluster import NAMESPACE, get, kubectl, wait_for

NAME = "invoice-webhook-client"


def output_of(code: str, *arguments: str, label: str, namespace: str = NAMESPACE) -> str:
    """What `code` prints in a pod whose app.kubernetes.io/name is `label`. The pod is deleted."""
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
