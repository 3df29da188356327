"""The packages whose internals this project uses, in the versions in which these have been read.

Another version fails here: read its changes in the files named below, then raise version and bound.
"""

import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BOUNDS = {
    requirement.name: requirement.specifier
    for group in (PROJECT["project"]["dependencies"], PROJECT["dependency-groups"]["local"])
    for requirement in map(Requirement, group)
}


class Read(NamedTuple):
    """`internals`: what is used beyond the documentation. `files`: those that use it."""

    version: str
    internals: str
    files: tuple[str, ...]


READ = {
    "uvicorn": Read(
        "0.54",
        "the HTTP protocol of httptools, RequestResponseCycle, Server, the multiprocess supervisor",
        ("app/web/server/", "asgi_doctor/serve.py", "lab/application/serve.py"),
    ),
    "httptools": Read("0.9", "llhttp's treatment of trailers and upgrades", ("app/web/server/protocol.py",)),
    "fastapi": Read(
        "0.165", "the order of its middleware: its exception handlers are inside of ours", ("app/web/main.py",)
    ),
    "starlette": Read("1.10", "JSONResponse.__call__", ("app/web/problems.py",)),
    "anyio": Read("4.16", "functions of its asyncio backend, by name", ("app/telemetry/",)),
    "pydantic": Read("2.14", "the message for JSON that is nested too deeply", ("app/validation_errors.py",)),
    "botocore": Read(
        "1.40",
        "botocore.utils and botocore.httpsession: proxies, CA bundle, checks of endpoints and regions",
        ("app/sqs/account.py", "app/sqs/async_client.py", "app/sqs/authorities.py", "app/sqs/sdk.py"),
    ),
    "aioboto3": Read(
        "15.5", "aiobotocore's AIOHTTPSession, two methods of which are replaced", ("app/sqs/async_client.py",)
    ),
    "pyinstrument": Read(
        "5.1", "Profiler.last_session, a variable of its stack sampler", ("profiles/instruments/profiler.py",)
    ),
    "ministack": Read("1.4", "its ASGI app, its inspection of queues", ("local/embedded_aws.py", "local/peek.py")),
}


@pytest.mark.parametrize("package", READ)
def test_the_version_that_was_read(package: str) -> None:
    """Major and minor are the versions that were read, and the bound excludes the next one."""
    read = READ[package]
    major, minor = version(package).split(".")[:2]
    assert f"{major}.{minor}" == read.version, f"{read.internals}: read {package} {major}.{minor} for {read.files}"
    assert any(bound.operator == "<" for bound in BOUNDS[package])
    assert not BOUNDS[package].contains(f"0.{int(minor) + 1}" if major == "0" else f"{int(major) + 1}.0")


@pytest.mark.parametrize("package", READ)
def test_where_it_is_used(package: str) -> None:
    """Each file is there and names its package."""
    for file in READ[package].files:
        path = ROOT / file
        text = "".join(found.read_text(encoding="utf-8") for found in (path.rglob("*.py") if path.is_dir() else [path]))
        assert package in text
