"""Dashboard and alerts, against a real Prometheus that scrapes a running service and a running worker."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from loadtest.record.folders import ROOT
from local.embedded_aws import EmbeddedAws
from local.ports import free_port
from local.readiness import wait_until_ready
from local.sample_events import fresh_events
from tests.billing.stage import Stage, event_body, some
from tests.harness.missing import CI
from tests.harness.scrape import metrics_url, scrape
from tests.harness.service import NO_CAS, Service, Web
from tests.worker.conftest import Pair, make_pair, with_billing

RULES = ROOT / "deploy" / "prometheus" / "rules.yaml"
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "dashboard.json").read_text(encoding="utf-8"))
GROUPS = [group["rules"] for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]]
ALERTS = {rule["alert"]: rule for group in GROUPS for rule in group}
ROW = next(number for number, panel in enumerate(DASHBOARD["panels"]) if panel["type"] == "row")
# Metrics of the CloudWatch exporter, because only SQS counts the messages in the dead-letter queue.
ELSEWHERE = "aws_sqs_"
# Panels that have no series before the first failure.
OF_TABLE = {"Retries and failures of DynamoDB B"}
FAILURES = {"Retries and failures of SQS B", "Retries and failures of the workers' calls B"}
PATIENCE_SECONDS = 90


def _expressions(panels: list[Any]) -> dict[str, str]:
    """Returns the expressions by the panel's title and the query's letter."""
    return {f"{panel['title']} {target['refId']}": target["expr"] for panel in panels for target in panel["targets"]}


OF_WEB, OF_WORKER = _expressions(DASHBOARD["panels"][:ROW]), _expressions(DASHBOARD["panels"][ROW + 1 :])
PANELS = OF_WEB | OF_WORKER

pytestmark = pytest.mark.skipif(
    shutil.which("prometheus") is None and not CI, reason="Prometheus is not on PATH (Debian: apt install prometheus)"
)


class Prometheus:
    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, verify=NO_CAS, timeout=60)

    def query(self, expression: str) -> list[Any]:
        answer = self._http.get("/api/v1/query", params={"query": expression}).json()
        assert answer["status"] == "success", (expression, answer)
        found: list[Any] = answer["data"]["result"]
        return found

    def close(self) -> None:
        self._http.close()

    def is_ready(self) -> bool:
        try:
            return self._http.get("/-/ready").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Prometheus, Path]]:
    """Starts a Prometheus with the rules of deploy/. Yields it, and the file that lists its targets."""
    folder = tmp_path_factory.mktemp("prometheus")
    targets = folder / "targets.json"
    targets.write_text("[]", encoding="utf-8")
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(RULES)],
        "scrape_configs": [
            {"job_name": "web", "file_sd_configs": [{"files": [str(targets)], "refresh_interval": "1s"}]}
        ],
    }
    (folder / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    port = free_port()
    command = [
        *("prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"),
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        running = Prometheus(f"http://127.0.0.1:{port}")
        wait_until_ready(process, running.is_ready, PATIENCE_SECONDS)
        yield running, targets
        running.close()
        process.kill()


@pytest.mark.parametrize("command", [["check", "rules", "rules.yaml"], ["test", "rules", "rules_test.yaml"]])
def test_promtool(command: list[str]) -> None:
    """promtool accepts the rules, and each alert fires when it should, and not otherwise."""
    done = subprocess.run(["promtool", *command], cwd=RULES.parent, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_says_what_to_do() -> None:
    """Each alert has a summary, an action and a severity."""
    for alert in ALERTS.values():
        assert alert["annotations"].keys() == {"summary", "action"}
        assert alert["labels"]["severity"] in {"page", "warn"}


@pytest.fixture
def pair(embedded: EmbeddedAws) -> Pair:
    return make_pair(embedded.endpoint)


@pytest.fixture
def worker(pair: Pair, stage: Stage) -> Iterator[Web]:
    """Starts a worker whose calls to Chargebee are slow, and fail often."""
    stage.behave(latency=0.02, errors=0.5, rests=10, retry_after="1")
    environment = with_billing(pair, stage) | {"APP_METRICS_PORT": "0"}
    with Web(environment, command=[sys.executable, "-m", "app", "worker"]) as worker:
        yield worker
    stage.behave(latency=0, errors=0, rests=0)


@pytest.mark.slow
def test_every_panel_has_data(
    prometheus: tuple[Prometheus, Path], pair: Pair, stage: Stage, event: bytes, worker: Web
) -> None:
    """Every metric that dashboard and rules name exists while webhooks and calls succeed, and then fail."""
    running, targets = prometheus
    with Service(pair.endpoint, pair.url, metrics_port=0) as service, service.client() as client:
        targets.write_text(json.dumps([{"targets": [_address(service), _address(worker)]}]), encoding="utf-8")
        bodies = fresh_events(event, 1_000_000)  # Chargebee has none of their invoices, so they become dead letters
        missing = set(PANELS)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while missing:
            assert time.monotonic() < deadline, missing
            client.post("/webhooks/chargebee", content=next(bodies))
            with suppress(stage.dynamodb.exceptions.ResourceNotFoundException):  # once the table is gone
                client.post("/webhooks/chargebee", content=_billable(stage))
                if missing <= OF_TABLE | FAILURES:
                    stage.dynamodb.delete_table(TableName=stage.table)
            missing -= {name for name in missing if running.query(PANELS[name].replace("$__rate_interval", "10s"))}
            if missing and missing <= FAILURES:
                with suppress(pair.sqs.exceptions.QueueDoesNotExist):  # the second time
                    pair.sqs.delete_queue(QueueUrl=pair.url)
        for process, panels, group in zip((service, worker), (OF_WEB, OF_WORKER), GROUPS, strict=True):
            named = _metrics(" ".join([*panels.values(), *(rule["expr"] for rule in group)]))
            assert {name for name in named if not name.startswith(ELSEWHERE)} <= scrape(process).names()
    for rule in ALERTS.values():
        running.query(rule["expr"])


def _billable(stage: Stage) -> bytes:
    """Returns an event of an invoice that Chargebee has, with usage of its customer."""
    body = event_body()
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], some(1))
    return json.dumps(body).encode()


def _address(process: Web) -> str:
    return metrics_url(process).removeprefix("http://").partition("/")[0]


def _metrics(expression: str) -> set[str]:
    """Returns the names of the metrics in an expression, without functions, labels and the choice of instances."""
    plain = re.sub(r"(unless|and) on \(instance\) (\w+|\([^)]*\))|\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)", "", expression)
    return {name for name in re.findall(r"[a-z][a-z0-9_]+", plain) if "_" in name} - {"histogram_quantile"}
