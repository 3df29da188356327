"""Tests `python -m local doctor` on small apps, in separate processes."""

import json
import re
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.harness.service import NO_CAS, clean_environment

ROOT = Path(__file__).parents[3]
PATIENCE = 60

SHOP = """
    import asyncio
    import re
    import time

    import httpx
    import requests
    from fastapi import FastAPI

    app = FastAPI()
    parcels = httpx.AsyncClient(timeout=60)
    not_an_app = 7

    def create():
        return app

    @app.get("/sleep")
    async def sleep():
        time.sleep(0.4)

    @app.get("/fetch")
    async def fetch(url: str):
        return requests.get(url, timeout=60).status_code

    @app.get("/fetch-async")
    async def fetch_async(url: str):
        return (await parcels.get(url)).status_code

    @app.get("/thread")
    def thread(url: str):
        return requests.get(url, timeout=60).status_code

    @app.get("/match")
    async def match():
        for _ in range(50):
            re.match(r"(a+)+$", "a" * 20 + "b")

    @app.get("/hang")
    async def hang():
        time.sleep(1000)
"""


class Slow:
    """An HTTP server whose answers wait until `release`."""

    def __enter__(self) -> "Slow":
        self._may_answer = answer = threading.Event()
        self._arrived = arrived = threading.Semaphore(0)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                arrived.release()
                answer.wait(PATIENCE)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        return self

    def __exit__(self, *error: object) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()

    def wait_for(self, number: int) -> None:
        """Returns when so many requests have arrived."""
        for _ in range(number):
            assert self._arrived.acquire(timeout=PATIENCE)

    def release(self) -> None:
        self._may_answer.set()


class Doctor:
    """A running doctor; `line` waits for its output."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.output = ""
        first = self.line("Serving shop:app on ")
        self.client = httpx.Client(base_url=first.split()[-1], timeout=PATIENCE, verify=NO_CAS)

    def line(self, text: str) -> str:
        """Returns the next line with `text`."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            if text in line:
                return line
        raise AssertionError(f"no {text!r} in {self.output}")

    def end(self, sig: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Returns the exit code, and the output after the signal."""
        self.process.send_signal(sig)
        rest, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, rest


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "local", "doctor", *arguments]


def environment() -> dict[str, str]:
    """Starts the doctor in the shop's directory, which is not this project's."""
    return clean_environment() | {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(textwrap.dedent(SHOP))
    return tmp_path


@contextmanager
def doctor(shop: Path, *options: str) -> Iterator[Doctor]:
    """Starts the doctor without the live page, because the page sends requests."""
    process = subprocess.Popen(
        command("shop:app", "--port", "0", "--no-page", *options),
        cwd=shop,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        try:
            running = Doctor(process)
            with running.client:
                yield running
        finally:
            process.kill()


def _place(shop: Path, code: str, function: str) -> str:
    lines = (shop / "shop.py").read_text().splitlines()
    return f"shop.py:{next(number for number, line in enumerate(lines, 1) if code in line)} in {function}"


def test_lines_that_block(shop: Path) -> None:
    """The doctor names the lines with `time.sleep` and `requests` while they block the loop, and in the summary."""
    sleeping = _place(shop, "time.sleep(0.4)", "sleep")
    fetching = _place(shop, "return requests.get(", "fetch")
    with doctor(shop, "--check") as running, Slow() as slow, ThreadPoolExecutor(1) as sender:
        for _ in range(2):
            assert running.client.get("/sleep").status_code == 200
        fetched = sender.submit(running.client.get, "/fetch", params={"url": slow.url})
        assert sleeping in running.line("blocked for ")
        assert fetching in running.line("blocked for ")
        slow.release()
        assert fetched.result(PATIENCE).status_code == 200
        code, summary = running.end()
    assert code == 1
    assert "3 requests; 2 places blocked the event loop for more than 100 ms" in summary
    assert re.search(rf"{re.escape(sleeping)}: (2 times|once), ", summary)  # the machine may pause in one
    assert f"{fetching}: once, " in summary
    assert summary.count("→ v08_native_async: await aioboto3") == summary.count("→ v03_threadpool: ") == 2


def test_the_live_page(shop: Path) -> None:
    """The page draws the app's event loop, has no buttons for webhooks, and ends with the doctor."""
    with doctor(shop, "--page") as running:
        address = re.search(r"http://[\d.:]+", running.line("Live page on "))[0]  # type: ignore[index]
        document = httpx.get(address, verify=NO_CAS, timeout=PATIENCE).text
        data = json.loads(document.partition('<script type="application/json" id="data">')[2].partition("</script>")[0])
        assert (data["loads"], data["delays"], data["services"][0]["name"]) == ({}, [], "shop:app")
        burst = httpx.post(f"{address}/send/burst", headers={"Origin": address}, verify=NO_CAS, timeout=PATIENCE)
        assert burst.status_code == 404
        assert running.client.get("/sleep").status_code == 200
        with httpx.stream("GET", f"{address}/events", verify=NO_CAS, timeout=PATIENCE) as events:
            moments = (json.loads(line[5:]) for line in events.iter_lines() if line.startswith("data:"))
            assert next(one for one in moments if one["services"][0].get("loop_max", 0) >= 300)
        page = psutil.Process(running.process.pid).children()
        code, _ = running.end()
    assert code == 0
    assert page
    assert psutil.wait_procs(page, timeout=PATIENCE)[1] == []


def test_an_app_without_faults(shop: Path) -> None:
    """An async client on a slow server, twenty at a time: nothing is named, and the exit code is 0.

    Not with the default of 100 ms: the first requests compute, which may take that long on a slow machine. A handler
    that held the loop would do so until all twenty have come, which they then never do.
    """
    with doctor(shop, "--check", "--warn", "5") as running, Slow() as slow, ThreadPoolExecutor(20) as senders:
        fetched = [senders.submit(running.client.get, "/fetch-async", params={"url": slow.url}) for _ in range(20)]
        slow.wait_for(20)  # none holds the loop, or there would be one
        slow.release()
        assert {one.result(PATIENCE).status_code for one in fetched} == {200}
        code, summary = running.end(signal.SIGINT)
    assert code == 0
    assert summary.splitlines()[1:] == ["20 requests; 0 places blocked the event loop for more than 5000 ms"]


def test_waiting_for_a_thread(shop: Path) -> None:
    """If more sync handlers run than anyio has threads, the loop is free, and calls wait for a token."""
    with doctor(shop) as running, Slow() as slow, ThreadPoolExecutor(45) as senders:
        running.client.close()
        limits = httpx.Limits(max_connections=45)
        with httpx.Client(base_url=running.client.base_url, timeout=PATIENCE, verify=NO_CAS, limits=limits) as client:
            fetched = [senders.submit(client.get, "/thread", params={"url": slow.url}) for _ in range(45)]
            running.line("all 40 threads are in use, and calls wait for a thread")
            slow.release()
            assert {one.result(PATIENCE).status_code for one in fetched} == {200}
        code, summary = running.end()
    assert code == 0
    assert "all 40 threads were in use for " in summary
    for release in ("v04_more_tokens", "v07_sync_handler", "v08_native_async"):
        assert f"→ {release}: " in summary


@pytest.mark.slow
def test_code_that_computes(shop: Path) -> None:
    """The doctor names a regular expression that keeps the GIL."""
    with doctor(shop) as running:
        assert running.client.get("/match").status_code == 200
        _, summary = running.end()
    assert _place(shop, "re.match(", "match") in summary
    assert "computes: do less" in summary


@pytest.mark.slow
def test_a_loop_that_never_turns_again(shop: Path) -> None:
    """A hanging line is named at once; the second signal ends the doctor with a summary."""
    with doctor(shop) as running, ThreadPoolExecutor(1) as sender:
        hanging = sender.submit(running.client.get, "/hang")
        assert _place(shop, "time.sleep(1000)", "hang") in running.line("blocked for ")
        running.process.send_signal(signal.SIGINT)
        running.line("Stopping")
        _, summary = running.end(signal.SIGINT)
        hanging.exception(PATIENCE)  # uvicorn may still answer with 500
    assert _place(shop, "time.sleep(1000)", "hang") + ": once, " in summary


@pytest.mark.slow
def test_for_some_seconds(shop: Path) -> None:
    """`--for` ends the doctor without a signal."""
    ended = subprocess.run(
        command("shop:app", "--port", "0", "--no-page", "--for", "0.1"),
        cwd=shop,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert "0 requests; 0 places" in ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["shop"], "shop: allowed is module:attribute, as in shop.main:app"),
        (["shops:app"], "shops cannot be imported: ModuleNotFoundError: No module named 'shops'"),
        (["broken:app"], "broken cannot be imported: ZeroDivisionError: division by zero (broken.py:1 in <module>)"),
        (["app.main:app"], "the package app is this command's own: rename yours"),
        (["shop:shop"], "shop:shop: shop has no attribute shop"),
        (["shop:not_an_app"], "shop:not_an_app: an object of type int is not an ASGI app"),
        (["shop:create"], "a function that is not async (a factory?) is not an ASGI app"),
        (["shop:app", "--host", "192.0.2.1"], "--host 192.0.2.1 --port 8000: cannot listen there: "),
    ],
    ids=" ".join,
)
def test_what_cannot_be_served(shop: Path, arguments: list[str], error: str) -> None:
    """The error is one line with the reason; the exit code is 2."""
    (shop / "broken.py").write_text("1 / 0\n")
    ended = subprocess.run(
        command(*arguments), cwd=shop, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    [line] = ended.stderr.splitlines()
    assert line.startswith("error: ")
    assert error in line
