"""Runs the Job of loadtest/in-cluster with other arguments, and reads the report in the Job's log."""

import json
import os
from typing import Any, NamedTuple

from tests.cluster.cluster import KubectlError, get, kubectl, purge, wait_for
from tests.cluster.variant import FOLDER, ROOT, write

_FIXED = (
    "--url=http://web",
    "--yes-this-is-mine",
    "--queue-url=http://toxiproxy:9324/000000000000/invoice-webhooks",
    "--sqs-endpoint=http://sqs:9324",
)


class Report(NamedTuple):
    """vegeta's figures, and the line about the audit."""

    requests: int
    success: float
    throughput: float
    p50_ms: float
    p99_ms: float
    codes: dict[str, int]
    audit: str
    holds: bool

    @property
    def failed(self) -> int:
        return self.requests - self.codes.get("200", 0)

    def __str__(self) -> str:
        codes = " ".join(f"{code}:{count:,}" for code, count in sorted(self.codes.items()))
        times = f"p50 {self.p50_ms:,.0f} ms, p99 {self.p99_ms:,.0f} ms"
        return f"{self.success:.2%}, {self.throughput:.1f}/s, {times}, {codes}; {self.audit}"


def start(*options: str) -> None:
    """Empties the queue, starts an attack, and returns when webhooks arrive."""
    purge()
    kubectl("delete", "job", "loadtest", "--ignore-not-found", "--wait")
    arguments = {"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": [*_FIXED, *options]}
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "namespace": "invoice-webhook",
        "resources": [os.path.relpath(ROOT / "loadtest" / "in-cluster", FOLDER / "attack")],
        "patches": [{"target": {"kind": "Job"}, "patch": json.dumps([arguments])}],
    }
    kubectl("apply", "--kustomize", str(write(FOLDER / "attack", kustomization)))
    wait_for("webhooks arriving", lambda: _arriving() or is_over())


def _arriving() -> bool:
    log = kubectl("logs", "--selector", "app.kubernetes.io/component=web", "--since=2s", "--tail=3")
    return "event_id" in log


def is_over() -> bool:
    """Returns whether the attack has ended, with success or not."""
    status: Any = get("job", "loadtest")["status"]
    return bool(status.get("succeeded") or status.get("failed"))


def finish(seconds: float = 600) -> Report:
    """Waits for the attack's end, and returns its report. Raises KubectlError if the log has no report."""
    wait_for("the end of the attack", is_over, seconds)
    log = kubectl("logs", "job/loadtest")
    before, brace, rest = log.partition("\n{")
    if not brace:
        raise KubectlError(f"the load test printed no report:\n{log}")
    report, _ = json.JSONDecoder().raw_decode("{" + rest)
    audit = next((line for line in before.splitlines() if line.startswith("audit:")), "no audit")
    return Report(
        requests=report["requests"],
        success=report["success"],
        throughput=report["throughput"],
        p50_ms=report["latencies"]["50th"] / 1e6,
        p99_ms=report["latencies"]["99th"] / 1e6,
        codes=report["status_codes"],
        audit=audit,
        holds=bool(get("job", "loadtest")["status"].get("succeeded")),
    )


def run(*options: str) -> Report:
    """Starts an attack and waits for its end."""
    start(*options)
    return finish()
