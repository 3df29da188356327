"""Problems that users of similar tools have reported in public. Each test has the link to its report."""

import asyncio
import json
import queue
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from fastapi import Depends, FastAPI

import asgi_doctor
from asgi_doctor import Finding, Kind
from tests.asgi_doctor.doctor_process import PATIENCE, environment

BLOCK = 0.6


def _requests(shop: FastAPI, *paths: str) -> tuple[Any, list[Finding]]:
    """Sends all requests at once. Returns the watched application, and the findings that its callback received."""
    found: list[Finding] = []
    app = asgi_doctor.watch(shop, on_finding=found.append)

    async def send() -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
            await asyncio.gather(*(client.get(path) for path in paths))
            await asyncio.sleep(0.2)

    asyncio.run(send())
    return app, found


def test_a_request_beside_one_that_blocks() -> None:
    """Only the request that blocks has a finding, and its block counts once, with the right length.

    https://github.com/parhamdavari/fastapi-loopguard/pull/7
    """
    shop = FastAPI()

    @shop.get("/waits")
    async def waits() -> None:
        await asyncio.sleep(2 * BLOCK)

    @shop.get("/blocks")
    async def blocks() -> None:
        await asyncio.sleep(BLOCK / 2)
        time.sleep(BLOCK)  # noqa: ASYNC251  # the fault
        await asyncio.sleep(BLOCK / 2)

    app, _ = _requests(shop, "/waits", "/blocks", "/waits")
    own = [one for one in app.findings if one.in_app]
    assert [(one.route, one.count) for one in own] == [("GET /blocks", 1)]
    assert BLOCK / 2 < own[0].seconds < 2 * BLOCK


def test_a_block_that_ends_without_await() -> None:
    """The doctor finds a handler that blocks and returns, and also a handler that awaits after it has blocked.

    https://github.com/parhamdavari/fastapi-loopguard/pull/33
    """
    shop = FastAPI()

    @shop.get("/returns")
    async def returns() -> None:
        time.sleep(BLOCK)  # noqa: ASYNC251  # the fault

    @shop.get("/awaits")
    async def awaits() -> None:
        time.sleep(BLOCK)  # noqa: ASYNC251  # the fault
        await asyncio.sleep(0.02)

    _, found = _requests(shop, "/returns", "/awaits")
    assert {one.route for one in found if one.in_app} == {"GET /returns", "GET /awaits"}


def test_an_application_that_another_loop_has_made() -> None:
    """The application was wrapped in a loop that has ended. The loop that serves is watched.

    https://github.com/pgjones/hypercorn/issues/294
    """

    async def create() -> FastAPI:
        shop = FastAPI()

        @shop.get("/blocks")
        async def blocks() -> None:
            time.sleep(BLOCK)  # noqa: ASYNC251  # the fault

        return asgi_doctor.watch(shop)  # type: ignore[return-value]  # Watch has the attributes of the application

    _, found = _requests(asyncio.run(create()), "/blocks")
    assert [one.route for one in found if one.in_app] == ["GET /blocks"]


def test_a_pool_of_connections_that_is_smaller_than_that_of_threads() -> None:
    """All threads wait for a connection, and the requests with a connection wait for a thread. The doctor finds a line.

    https://github.com/fastapi/fastapi/issues/3205
    """
    pool = queue.Queue[int]()
    for number in range(5):
        pool.put(number)

    def session() -> Iterator[int]:
        connection = pool.get(timeout=1.5)
        yield connection
        pool.put(connection)

    shop = FastAPI()

    @shop.get("/users/{number}")
    def user(number: int, connection: int = Depends(session)) -> None:
        """Needs a thread, but all threads wait in `session`."""

    _, found = _requests(shop, *(f"/users/{number}" for number in range(60)))
    [starved] = [one for one in found if one.kind is Kind.STARVES]
    assert (starved.source, starved.route) == ("connection = pool.get(timeout=1.5)", "GET /users/{number}")


SHOP = """
import asyncio, json, time
import asgi_doctor

async def blocks(scope, receive, send):
    if scope["path"]:
        time.sleep(0.6)

async def main():
    await app({"type": "http", "method": "GET", "path": "/"}, None, None)
    await asyncio.sleep(0.1)

app = asgi_doctor.watch(blocks)
asyncio.run(main())
print(json.dumps([(one.source, one.libraries) for one in app.findings]))
"""


def test_coverage_with_branches(tmp_path: Path) -> None:
    """Coverage reads files while the loop runs. Such a read does not appear in any finding.

    https://github.com/cbornet/blockbuster/pull/69
    """
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "coverage", "run", "--branch", "--source", ".", "shop.py"],
        cwd=tmp_path, env=environment(), capture_output=True, encoding="utf-8", timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert json.loads(ended.stdout) == [["time.sleep(0.6)", []]]
