"""Checks of Dockerfile and compose.yaml that require no container engine."""

import re
from typing import Any

import yaml

from app.settings import ALL, WorkerSettings
from app.settings.text import unknown_variables
from tests.deploy.rendering import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
STAGES = re.findall(r"^FROM (\S+) AS (\S+)$", DOCKERFILE, re.MULTILINE)


def test_stages() -> None:
    """Only the first stage names an image. The last one is the service and has no RUN."""
    assert len(STAGES) == len(re.findall(r"^FROM", DOCKERFILE, re.MULTILINE))
    names = [name for _, name in STAGES]
    assert STAGES[0] == ("python:3.14-slim", "python")
    assert all(origin in names for origin, _ in STAGES[1:])
    assert STAGES[-1] == ("python", "app")
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert "RUN" not in last
    assert 'ENTRYPOINT ["python", "-m", "app"]\nCMD ["web"]' in last
    assert "USER 10001:10001" in last


def test_what_is_installed_has_hashes() -> None:
    """Each `pip install` has --require-hashes."""
    installs = re.findall(r"pip install .*", DOCKERFILE)
    assert installs
    assert all("--require-hashes" in install for install in installs)


def test_compose() -> None:
    """compose.yaml builds existing targets, gives each process a quarter of a core, and has no unknown variable."""
    compose: Any = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    targets = {service["build"]["target"] for service in compose["services"].values()}
    assert targets == {"app", "local", "toxiproxy", "sqs"} <= {name for _, name in STAGES}
    for process in ("web", "worker"):
        service = compose["services"][process]
        assert service["command"] == [process]
        assert service["cpus"] == 0.25
        assert service["mem_limit"] == service["memswap_limit"]
    for service in compose["services"].values():
        assert list(unknown_variables(service.get("environment", {}), ALL)) == []
    assert all((ROOT / config["file"]).is_file() for config in compose["configs"].values())


def test_the_worker_of_compose_has_what_it_requires() -> None:
    """The worker's settings are complete, and its grace period is longer than APP_GRACEFUL_TIMEOUT."""
    compose: Any = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    worker = compose["services"]["worker"]
    given = {name[4:].lower(): value for name, value in worker["environment"].items() if name.startswith("APP_")}
    settings = WorkerSettings.model_validate(given)
    settings.require_billing()
    assert settings.require_queue_url() == compose["services"]["web"]["environment"]["APP_SQS_QUEUE_URL"]
    assert settings.dead_letter_queue_url is not None
    assert int(worker["stop_grace_period"].removesuffix("s")) > settings.graceful_timeout


def test_the_image_keeps_what_the_processes_call() -> None:
    """botocore's data of SQS, DynamoDB and STS (for a role's credentials) is not pruned."""
    assert set(re.findall(r"! -name '?(\S+?)'? ", DOCKERFILE)) == {"sqs", "dynamodb", "sts", "sso*"}


def test_the_service_s_image_has_the_service_alone() -> None:
    """The stages of the image copy only `app`, `asgi_doctor` and the lock from this project."""
    stages = dict(zip((name for _, name in STAGES), DOCKERFILE.split("\nFROM ")[1:], strict=True))
    copied = re.findall(r"^COPY (?!--from)(.+)$", stages["venv"] + stages["pruned"] + stages["app"], re.MULTILINE)
    assert copied == ["locks/app.lock locks/", "app /srv/app", "asgi_doctor /srv/asgi_doctor"]
    assert set(re.findall(r"--from=(\S+)", stages["app"])) == {"pruned"}
