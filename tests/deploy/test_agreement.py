"""What is written in more than one place in deploy/ agrees: queue, table, endpoints, variables."""

import re

import yaml

from app import __version__
from app.from_settings import send_limits
from app.settings import ALL, WebSettings
from app.settings.text import unknown_variables, variable
from tests.deploy import policy
from tests.deploy.rendering import ROOT, rendered

_PARAMETERS = ("TableName", "QueueName")


def test_every_variable_of_the_secret_is_a_setting() -> None:
    """The Secrets have the Basic credentials and Chargebee's key. Each of their variables is a setting."""
    given = {name for secret in policy.of(rendered("kind", ()), "Secret") for name in secret["data"]}
    assert given == {"APP_BASIC_AUTH_USERNAME", "APP_BASIC_AUTH_PASSWORD", "APP_CHARGEBEE_API_KEY"}
    assert given <= {variable(name) for read in ALL for name in read.model_fields}
    page = (ROOT / "deploy" / "k8s" / "README.md").read_text(encoding="utf-8")
    assert given == set(re.findall(r"--from-literal=(\w+)=", page))


def test_the_stand_ins_are_configured_as_the_worker_is() -> None:
    """Worker and stand-ins agree about table, endpoint and port. Each variable of the stand-ins is a setting."""
    objects = rendered("kind", ())
    worker, _ = policy.environment(objects, policy.named(objects, "Deployment", "worker"))
    services = {found["metadata"]["name"]: found["spec"]["ports"][0]["port"] for found in policy.of(objects, "Service")}
    for name in ("dynamodb", "chargebee"):
        given, _ = policy.environment(objects, policy.named(objects, "Deployment", name))
        assert given["APP_BILLING_TABLE"] == worker["APP_BILLING_TABLE"]
        assert list(unknown_variables(given, ALL)) == []
    assert worker["AWS_ENDPOINT_URL_DYNAMODB"] == given["AWS_ENDPOINT_URL"] == f"http://dynamodb:{services['dynamodb']}"
    assert worker["APP_CHARGEBEE_URL"] == f"http://chargebee:{services['chargebee']}"


def test_the_stand_ins_know_the_names_that_they_are_asked_by() -> None:
    """The stand-ins answer 403 to other names, so they allow their own, and probes ask for localhost."""
    objects = rendered("kind", ())
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    for name in ("dynamodb", "chargebee"):
        [container] = policy.named(objects, "Deployment", name)["spec"]["template"]["spec"]["containers"]
        assert f"--allow-host={name}" in container["args"]
        assert f"--allow-host={name}" in services[name]["command"]
        for get in filter(None, [container["readinessProbe"].get("httpGet")]):
            assert get["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
    assert "Host: localhost" in services["dynamodb"]["healthcheck"]["test"][-1]


def test_the_image_is_of_this_version() -> None:
    """The overlay for AWS names the tag that the documentation builds and pushes, and no base has another one."""
    objects = rendered("aws", ())
    pods = [found["spec"]["template"]["spec"] for found in policy.of(objects, "Deployment")]
    tags = {container["image"].rpartition(":")[2] for pod in pods for container in pod["containers"]}
    assert tags == {__version__}
    base = [file.read_text(encoding="utf-8") for file in (ROOT / "deploy" / "k8s" / "base").rglob("kustomization.yaml")]
    assert "newTag" not in "".join(base)
    text = (ROOT / "deploy" / "k8s" / "README.md").read_text(encoding="utf-8")
    assert "version=$(python3 -c 'import app; print(app.__version__)')\n" in text
    assert "/invoice-webhook:$version\n" in text


def test_the_published_ports_are_on_loopback() -> None:
    """compose.yaml publishes nothing to the network of the laptop."""
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert published
    assert [port for port in published if not port.startswith("127.0.0.1:")] == []


def test_aws_names_what_the_template_makes() -> None:
    """The overlay's queues and table are those of deploy/aws/billing.yaml by default."""
    template = (ROOT / "deploy" / "aws" / "billing.yaml").read_text(encoding="utf-8")
    table, queue = (re.search(rf"{name}:\n    Type: String\n    Default: (\S+)", template) for name in _PARAMETERS)
    assert table is not None
    assert queue is not None
    objects = rendered("aws", ())
    worker, _ = policy.environment(objects, policy.named(objects, "Deployment", "worker"))
    assert worker["APP_BILLING_TABLE"] == table[1]
    assert worker["APP_SQS_QUEUE_URL"].endswith(f"/{queue[1]}")
    assert worker["APP_DEAD_LETTER_QUEUE_URL"].endswith(f"/{queue[1]}-dead-letters")


def test_the_queues_of_the_template_take_the_longest_webhook() -> None:
    """Both queues take the longest body that the overlay accepts, and 4 KiB of attributes."""
    template = yaml.compose((ROOT / "deploy" / "aws" / "billing.yaml").read_text(encoding="utf-8"))
    resources = _members(_members(template)["Resources"])
    queues = [_members(resources[name]) for name in ("Queue", "DeadLetters")]
    sizes = [int(_members(queue["Properties"])["MaximumMessageSize"].value) for queue in queues]
    web, _ = policy.environment(rendered("aws", ()), policy.named(rendered("aws", ()), "Deployment", "web"))
    assert min(sizes) >= int(web["APP_MAX_BODY_BYTES"]) + 4 * 1024
    assert min(sizes) >= send_limits(WebSettings(max_body_bytes=int(web["APP_MAX_BODY_BYTES"]))).call_bytes


def _members(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """Returns the members of a mapping of the template by name. CloudFormation's tags, such as !Ref, stay unread."""
    assert isinstance(node, yaml.MappingNode)
    return {key.value: value for key, value in node.value}


def test_the_policy_allows_what_redrive_calls() -> None:
    """The policy allows all calls of `redrive` on the dead-letter queue. A batch needs the permission of one call."""
    code = (ROOT / "app" / "worker" / "consumed_queue.py").read_text(encoding="utf-8")
    called = {f"sqs:{name.removesuffix('Batch')}" for name in re.findall(r'_call\(\s*"(\w+)"', code)}
    called |= {f"sqs:{name.title().replace('_', '')}" for name in re.findall(r"_client\.(\w+)\(", code)}
    assert {"sqs:ReceiveMessage", "sqs:GetQueueUrl"} <= called
    assert called <= _allowed("OperatorPolicy", "DeadLetters")


def test_the_policy_allows_what_operators_call() -> None:
    """The policy allows each call of the AWS CLI in docs/operating.md."""
    text = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    found = re.findall(r"^aws (\w+) ([\w-]+)", text, re.MULTILINE)
    called = {f"{service}:{name.title().replace('-', '')}" for service, name in found}
    assert called == {"dynamodb:Query", "sqs:ReceiveMessage", "sqs:DeleteMessage"}
    assert called <= _allowed("OperatorPolicy", "Table") | _allowed("OperatorPolicy", "DeadLetters")


def test_only_the_writer_deletes_usage() -> None:
    """No policy of the template deletes items, and the page asks the writer, who would put an item again."""
    template = (ROOT / "deploy" / "aws" / "billing.yaml").read_text(encoding="utf-8")
    assert "dynamodb:DeleteItem" not in template
    text = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    assert "let the writer delete" in text


def test_a_worker_cannot_delete_dead_letters() -> None:
    """The worker's policy allows it to send to the dead-letter queue, and nothing else."""
    assert _allowed("WorkerPolicy", "DeadLetters") == {"sqs:GetQueueUrl", "sqs:SendMessage"}
    assert "sqs:SendMessage" not in _allowed("WorkerPolicy", "Queue")


def _allowed(policy: str, resource: str) -> set[str]:
    """Returns the actions that a policy of the template allows on one of its queues, or on its table."""
    template = (ROOT / "deploy" / "aws" / "billing.yaml").read_text(encoding="utf-8")
    statements = template.partition(f"\n  {policy}:\n")[2].partition("\n\n")[0].split("- Effect: Allow")
    (statement,) = [text for text in statements if f"!GetAtt {resource}.Arn" in text]
    return set(re.findall(r"(?:dynamodb|sqs):\w+", statement))


def test_web_and_worker_share_the_queue() -> None:
    """On AWS and on kind, the worker receives from the queue that web sends to."""
    for overlay in ("aws", "kind"):
        objects = rendered(overlay, ())
        web, worker = (policy.environment(objects, deployment)[0] for _, deployment in policy.processes(objects))
        assert web["APP_SQS_QUEUE_URL"] == worker["APP_SQS_QUEUE_URL"]
        assert web["AWS_DEFAULT_REGION"] == worker["AWS_DEFAULT_REGION"]
        assert worker["APP_DEAD_LETTER_QUEUE_URL"].startswith(worker["APP_SQS_QUEUE_URL"])
