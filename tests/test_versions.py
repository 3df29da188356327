"""The packages whose internals this project uses, in the versions in which these have been read.

Another version fails here: read its changes to what the files named below use, then raise version and bound.
"""

import importlib
import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

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
    """`used`: for each file, what it uses beyond the documentation, as module:name, or as a text that it compares."""

    version: str
    used: dict[str, tuple[str, ...]]


READ = {
    "uvicorn": Read(
        "0.54",
        {"app/web/uvicorn_server.py": ("uvicorn:Server",)},
    ),
    "httptools": Read("0.9", {"app/server/parser.py": ("httptools:HttpParserUpgrade", "httptools:HttpParserError")}),
    # Ours is outside of its exception handlers.
    "fastapi": Read("0.165", {"app/web/main.py": ("fastapi:FastAPI.add_middleware", "fastapi:FastAPI")}),
    "starlette": Read("1.10", {"app/web/problems.py": ("starlette.responses:JSONResponse",)}),
    "anyio": Read(
        "4.16",
        {
            "profiles/instruments/functions.py": (
                "anyio._backends._asyncio:CapacityLimiter.acquire_on_behalf_of",
                "anyio._backends._asyncio:AsyncIOBackend.run_sync_in_worker_thread",
            )
        },
    ),
    # Its message for JSON that is nested too deeply.
    "pydantic": Read("2.14", {"app/validation_errors.py": ("Invalid JSON: recursion limit exceeded",)}),
    "botocore": Read(
        "1.40",
        {
            "app/sqs/account.py": ("botocore.utils:get_environ_proxies",),
            "app/sqs/async_client.py": ("botocore.httpsession:create_urllib3_context",),
            "app/sqs/authorities.py": (
                "botocore.httpsession:create_urllib3_context",
                "botocore.httpsession:get_cert_path",
            ),
            "app/sqs/sdk.py": ("botocore.utils:is_valid_endpoint_url", "botocore.utils:validate_region_name"),
        },
    ),
    "aioboto3": Read(
        "15.5",
        {
            "app/sqs/async_client.py": (
                "aiobotocore.httpsession:AIOHTTPSession._get_ssl_context",
                "aiobotocore.httpsession:AIOHTTPSession._setup_proxy_ssl_context",
            )
        },
    ),
    "pyinstrument": Read("5.1", {"profiles/instruments/profiler.py": ("pyinstrument:Profiler.last_session",)}),
    "ministack": Read(
        "1.4",
        {"local/embedded_aws.py": ("from ministack.app import app",), "local/peek.py": ("/_ministack/sqs/messages",)},
    ),
}
USED = [(package, file, name) for package, read in READ.items() for file, names in read.used.items() for name in names]


@pytest.mark.parametrize("package", READ)
def test_the_version_that_was_read(package: str) -> None:
    """Major and minor are the versions that were read, and the bound excludes the next one."""
    read = READ[package]
    major, minor = version(package).split(".")[:2]
    assert f"{major}.{minor}" == read.version, f"read {package} {major}.{minor} for {read.used}"
    assert any(bound.operator == "<" for bound in BOUNDS[package])
    assert not BOUNDS[package].contains(f"0.{int(minor) + 1}" if major == "0" else f"{int(major) + 1}.0")


@pytest.mark.parametrize(("package", "file", "name"), USED)
def test_what_is_used(package: str, file: str, name: str) -> None:
    """The package has the name, and the file uses it."""
    *module, qualified = name.split(":") if re.fullmatch(r"[\w.]+:[\w.]+", name) else [name]
    found: Any = importlib.import_module(module[0]) if module else None
    for word in qualified.split(".") if module else ():
        found = getattr(found, word)
    text = (ROOT / file).read_text(encoding="utf-8")
    assert (qualified.rpartition(".")[2] if module else name) in text
