"""The arguments of `no_blocking`, and a project with the option for all tests. test_wheel.py tests the wheel."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from asgi_doctor.plugin import _limit
from tests.asgi_doctor.doctor_process import PATIENCE, environment


def _item(*arguments: Any, **named: Any) -> Any:
    mark = SimpleNamespace(args=arguments, kwargs=named)  # the plugin, which registers the mark, is not installed here
    config = SimpleNamespace(getini=lambda name: {"no_blocking_limit": "0.05"}[name])
    return SimpleNamespace(nodeid="test_shop.py::test_pay", config=config, get_closest_marker=lambda name: mark)


@pytest.mark.parametrize(
    ("item", "limit"), [(_item(limit=0.2), 0.2), (_item(0.2), 0.2), (_item(), 0.05)], ids=["named", "first", "default"]
)
def test_the_limit(item: Any, limit: float) -> None:
    """The limit is a named or positional argument of the mark, or otherwise the option."""
    assert _limit(item) == limit


@pytest.mark.parametrize(
    ("item", "error"),
    [
        pytest.param(_item(seconds=5), "unexpected keyword argument 'seconds'", id="another name"),
        pytest.param(_item(limit=0), "0.0: allowed is a number of seconds, from 0.01 to 60", id="zero"),
        pytest.param(_item(limit=-1), "-1.0: allowed is a number of seconds, from 0.01 to 60", id="negative"),
        pytest.param(_item(0.1, 0.2), "takes from 0 to 1 positional arguments but 2 were given", id="two"),
        pytest.param(_item("fast"), "could not convert string to float: 'fast'", id="text"),
    ],
)
def test_a_limit_that_is_not_allowed(item: Any, error: str) -> None:
    """A mark with wrong arguments, or with a limit that is too low or too high, is an error before the tests run."""
    with pytest.raises(pytest.UsageError) as raised:
        _limit(item)
    assert str(raised.value).startswith("test_shop.py::test_pay: no_blocking(limit=SECONDS): ")
    assert str(raised.value).endswith(error)


PROJECT = """
import io, os, pdb, threading, time

import anyio, pytest
from shop import app
from starlette.testclient import TestClient

pytestmark = pytest.mark.anyio

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.fixture
async def slow():
    time.sleep(0.3)

async def blocks():
    time.sleep(0.3)

async def test_ends_without_await():
    await blocks()

async def test_with_a_slow_fixture(slow):
    await anyio.sleep(0)

@pytest.mark.allow_blocking
async def test_may_block():
    await blocks()

async def test_may_block_in_part(no_blocking):
    with no_blocking.allowed():
        await blocks()

@pytest.mark.no_blocking(limit=1)
async def test_with_another_limit():
    await blocks()

async def test_debugged():
    reader, writer = os.pipe()
    threading.Timer(0.3, os.write, [writer, b"continue\\n"]).start()
    with open(reader) as typed:
        pdb.Pdb(stdin=typed, stdout=io.StringIO(), nosigint=True, readrc=False).set_trace()
        await anyio.sleep(0)

@pytest.mark.parametrize("path", ["known/7", "cached", "commented", "new"])
def test_route(path):
    TestClient(app).get(f"/{path}")

def test_without_a_loop():
    time.sleep(0.3)

async def test_under_trio():
    pass
"""
# Runs one test without a loop of asyncio, as trio does, which is not installed here.
CONFTEST = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if pyfuncitem.name == "test_under_trio":
        pyfuncitem.obj().close()
        return True
"""
SHOP = """
import queue, time

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

def wait():
    try:
        queue.Queue().get(timeout=0.3)
    except queue.Empty:
        return Response()

async def known(request):
    return wait2()

def wait2():
    time.sleep(0.3)
    return Response()

async def cached(request):
    return wait()

async def commented(request):
    time.sleep(0.3)  # asgi-doctor: ok, because it is rare
    return Response()

async def new(request):
    time.sleep(0.3)
    return Response()

routes = [Route("/known/{id}", known), Route("/cached", cached), Route("/commented", commented), Route("/new", new)]
app = Starlette(routes=routes)
"""
CONFIGURED = """
[tool.asgi-doctor]
baseline = "known.json"
allow = [{ library = "queue", because = "it is short" }]

[tool.pytest.ini_options]
no_blocking = true
no_blocking_limit = "0.1"
"""
KNOWN = {"file": "shop.py", "function": "wait2", "route": "GET /known/{id}", "kind": "waits"}


def test_a_project_in_which_no_test_may_block(tmp_path: Path) -> None:
    """With the option, all tests fail if a line blocks, unless the block is in the baseline or allowed.

    Blocks in a fixture and in a debugger do not count. A loop that cannot be watched is an error.
    """
    (tmp_path / "test_shop.py").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(CONFIGURED, encoding="utf-8")
    (tmp_path / "known.json").write_text(json.dumps({"known": [KNOWN]}), encoding="utf-8")
    plugins = [f"-p{name}" for name in ("asgi_doctor.plugin", "anyio.pytest_plugin", "no:cacheprovider")]
    variables = environment() | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rf", *plugins],
        cwd=tmp_path, env=variables, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    failed = set(re.findall(r"^FAILED test_shop\.py::(\S+)", ended.stdout, re.MULTILINE))
    expected = {"test_ends_without_await", "test_route[new]", "test_under_trio"}
    assert failed == expected, ended.stdout + ended.stderr
    assert "no_blocking: allowed or in the baseline: shop.py:10 in wait, shop.py:18 in wait2" in ended.stdout
    assert ended.stdout.count("no event loop of asyncio or uvloop has run") >= 1
