"""Releases state their facts in their modules."""

import subprocess
import sys

import pytest

from app.from_settings import send_limits
from app.settings import Release, WebSettings
from app.settings.release_names import FACTS
from app.web import releases


@pytest.mark.parametrize("release", Release, ids=str)
def test_the_facts_of_a_module(release: Release) -> None:
    """The facts that are read from the source are those of the imported module."""
    module = vars(releases.load(release))
    assert release.facts == {name: module.get(name, usual) for name, usual in FACTS.items()}


def test_facts_import_nothing() -> None:
    """`--help` names the releases without loading boto3 or FastAPI."""
    code = "import sys; from app.settings import Release; [one.facts for one in Release]; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    ).stdout.split()
    assert not {"boto3", "botocore", "fastapi", "aioboto3"} & set(loaded)


@pytest.mark.parametrize(("given", "expected"), [(None, 64), (7, 7)])
def test_the_pool(given: int | None, expected: int) -> None:
    """APP_SQS_MAX_CONNECTIONS overrides the pool that a release states."""
    settings = WebSettings.model_validate({} if given is None else {"sqs_max_connections": given})
    assert send_limits(settings, Release.V08_NATIVE_ASYNC.facts["CONNECTIONS"]).connections == expected
