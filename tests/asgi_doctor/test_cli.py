"""Tests `python -m asgi_doctor` on small apps, in separate processes."""

import asyncio
import json
import math
import re
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree as ET

import httpx
import pytest

from asgi_doctor import cli, deadline, load
from tests.asgi_doctor.doctor_process import PATIENCE, command, doctor, environment
from tests.harness.service import NO_CAS

SHOP = """
    import time

    from fastapi import BackgroundTasks, FastAPI

    app = FastAPI()
    not_an_app = 7

    def create():
        return app

    @app.get("/sleep/{number}")
    async def sleep(number: int):
        time.sleep(2)

    @app.get("/slow")
    def slow():
        time.sleep(1)

    def mail():
        time.sleep(2)

    @app.get("/later")
    async def later(tasks: BackgroundTasks):
        tasks.add_task(mail)

    @app.get("/hang")
    async def hang():
        time.sleep(1000)
"""

# Replaces AnyIO's module. Its import blocks for a second, as AnyIO's import may do on a slow machine.
SLOW_LIBRARY = """
import time, types

time.sleep(1)

def current_default_thread_limiter():
    return types.SimpleNamespace(statistics=lambda: types.SimpleNamespace(tasks_waiting=0))
"""

# Half of what `sleep` blocks. On a busy machine, a healthy line may block for longer than the default limit.
FAR_ABOVE = ("--warn", "1")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(textwrap.dedent(SHOP), encoding="utf-8")
    return tmp_path


def _place(shop: Path, code: str, function: str) -> str:
    lines = (shop / "shop.py").read_text(encoding="utf-8").splitlines()
    return f"shop.py:{next(number for number, line in enumerate(lines, 1) if code in line)} in {function}"


def test_a_line_that_blocks(shop: Path) -> None:
    """The doctor names the line while it blocks. The files then have the line with its route, kind and cure.

    The configured baseline does not exist yet, because this run writes it.
    """
    (shop / "pyproject.toml").write_text('[tool.asgi-doctor]\nbaseline = "known.json"\n', encoding="utf-8")
    sleeping = _place(shop, "time.sleep(2)", "sleep")
    files = ("--json", "found.json", "--junit", "found.xml", "--write-baseline", "known.json")
    with doctor(shop, "--check", "--no-page", *FAR_ABOVE, *files) as running:
        assert running.client.get("/sleep/7").status_code == 200
        assert "blocked for " in running.line(sleeping)
        code, summary = running.end()
    assert code == 1
    assert summary.endswith("error: --check: there are new findings, so the exit code is 1\n")
    assert "1 request; 1 finding (limit 1 s)" in summary
    [found] = json.loads((shop / "found.json").read_text(encoding="utf-8"))["findings"]
    assert (f"{found['file']}:{found['line']} in {found['function']}", found["count"]) == (sleeping, 1)
    assert (found["route"], found["kind"]) == ("GET /sleep/{number}", "waits")
    assert "asyncio.sleep" in found["cure"]
    assert found["seconds"] == found["longest"] > 1
    suite = ET.fromstring((shop / "found.xml").read_text(encoding="utf-8"))  # noqa: S314  # the doctor has written the file
    assert (suite.get("failures"), suite[0].get("classname")) == ("1", "GET /sleep/{number}")
    [known] = json.loads((shop / "known.json").read_text(encoding="utf-8"))["known"]
    assert known == {"file": "shop.py", "function": "sleep", "route": "GET /sleep/{number}", "kind": "waits"}


def test_known_findings(shop: Path) -> None:
    """A finding of the baseline does not fail the check. The summary counts it separately."""
    known = [{"file": "shop.py", "function": "sleep", "route": "GET /sleep/{number}", "kind": "waits"}]
    (shop / "known.json").write_text(json.dumps({"known": known}), encoding="utf-8")
    with doctor(shop, "--check", "--no-page", *FAR_ABOVE, "--baseline", "known.json") as running:
        assert running.client.get("/sleep/7").status_code == 200
        code, summary = running.end()
    assert code == 0
    assert "0 findings (limit 1 s), 1 more allowed or in the baseline" in summary


@pytest.mark.slow
def test_starvation_with_the_built_in_load(shop: Path) -> None:
    """Fifty concurrent calls are more than AnyIO's forty threads, so --send alone is enough to find starvation."""
    ended = subprocess.run(
        command("shop:app", "--port", "0", "--no-page", "--check", "--send", "GET /slow", "--json", "found.json"),
        cwd=shop, env=environment(), capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert ended.returncode == 1, ended.stdout
    assert "sent GET /slow: 52 × 200" in ended.stdout
    findings = json.loads((shop / "found.json").read_text(encoding="utf-8"))["findings"]
    [found] = [one for one in findings if one["kind"] == "starves"]  # on a busy machine, healthy lines block, too
    assert (found["route"], found["function"]) == ("GET /slow", "slow")


@pytest.mark.slow
def test_background_tasks_after_the_built_in_load(shop: Path) -> None:
    """The doctor watches until the background tasks have ended. They wait for threads after all responses."""
    ended = subprocess.run(
        command("shop:app", "--port", "0", "--no-page", "--send", "GET /later", "--json", "found.json"),
        cwd=shop, env=environment(), capture_output=True, encoding="utf-8", timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert "sent GET /later: 52 × 200" in ended.stdout
    findings = json.loads((shop / "found.json").read_text(encoding="utf-8"))["findings"]
    assert ("starves", "mail") in [(one["kind"], one["function"]) for one in findings]


def test_a_reader_that_ends_early(shop: Path) -> None:
    """If nobody reads the output after the first line, as with `| head -1`, the doctor still writes its files."""
    process = subprocess.Popen(
        command("shop:app", "--port", "0", "--no-page", "--send", "GET /docs", "--json", "found.json"),
        cwd=shop, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("Serving shop:app on ")
        process.stdout.close()
        try:
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
        assert process.stderr.read() == ""
    assert (shop / "found.json").exists()


@pytest.mark.parametrize(
    ("encoding", "times", "letter"), [("ascii", "x", "\\xd8"), ("cp1251", "x", "\\xd8"), ("cp1252", "×", "Ø")]
)
def test_an_encoding_without_arrows(shop: Path, encoding: str, times: str, letter: str) -> None:
    """A character that the terminal's encoding lacks becomes ASCII or, in the user's code, an escape sequence."""
    with (shop / "shop.py").open("a", encoding="utf-8") as file:
        file.write("\nimport queue, contextlib\nwith contextlib.suppress(queue.Empty):\n")
        file.write("    queue.Queue().get(timeout=1)  # ∅ Ø\n")
    ended = subprocess.run(
        command("shop:app", "--port", "0", "--no-page", "--send", "GET /docs", "--json", "found.json"),
        cwd=shop, env=environment() | {"PYTHONIOENCODING": encoding}, capture_output=True, encoding=encoding,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    assert f"sent GET /docs: 52 {times} 200" in ended.stdout
    assert "      -> " in ended.stdout
    assert f"# \\u2205 {letter}" in ended.stdout
    assert (shop / "found.json").exists()


def test_the_doctor_does_not_report_itself(tmp_path: Path) -> None:
    """The doctor imports a part of AnyIO on the loop, to find AnyIO's threads. A slow import is not a finding."""
    pretended = tmp_path / "site-packages" / "anyio"
    pretended.mkdir(parents=True)
    (pretended / "__init__.py").touch()
    (pretended / "to_thread.py").write_text(SLOW_LIBRARY, encoding="utf-8")
    code = """
        import sys

        for loaded in [name for name in sys.modules if name.partition(".")[0] == "anyio"]:
            del sys.modules[loaded]
        sys.path.insert(0, "site-packages")
        import anyio

        async def app(scope, receive, send):
            if scope["type"] == "http":
                await send({"type": "http.response.start", "status": 204, "headers": []})
                await send({"type": "http.response.body"})
    """
    (tmp_path / "shop.py").write_text(textwrap.dedent(code), encoding="utf-8")
    with doctor(tmp_path, "--no-page", "--check") as process:
        assert process.client.get("/").status_code == 204
        assert process.end()[0] == 0, process.output


def test_a_check_that_cannot_tell(shop: Path) -> None:
    """If all responses are errors, the endpoint has not run, so a check without findings fails."""
    ended = subprocess.run(
        command("shop:app", "--port", "0", "--no-page", "--send", "GET /nothing", "--check"),
        cwd=shop, env=environment(), capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert "sent GET /nothing: 52 × 404" in ended.stdout
    assert ended.returncode == 2
    assert ended.stderr == "error: --check: all answers to a request of --send are errors: see `sent` above\n"


@pytest.mark.parametrize(
    ("answer", "counted"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\ndata: 1\n\n", "52 × 200 without an end in 1 s"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "52 × 200"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "52 × 200"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "52 × 204"),
    ],
)
def test_the_end_of_an_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: bytes, counted: str
) -> None:
    """The load ends with the response, without waiting for the connection's end. An event stream has no end."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await reader.read()
        writer.close()

    async def send() -> int:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            return await asyncio.to_thread(load.main, "127.0.0.1", port, 50, [load.Request("GET", "/events")])

    monkeypatch.setattr(load, "SECONDS", 1.0)
    assert asyncio.run(send()) == 0
    assert capsys.readouterr().out == f"sent GET /events: {counted}\n"


ACCOUNTS = """
    from fastapi import Cookie, FastAPI, Header, HTTPException, Request, Response

    app = FastAPI()

    @app.post("/login")
    async def login(request: Request, response: Response):
        if (await request.json())["name"] != "ada":
            raise HTTPException(401)
        response.set_cookie("session", "s1")
        return {"token": "t1", "account": 7}

    @app.get("/accounts/{number}")
    async def account(number: int, authorization: str = Header(), session: str = Cookie()):
        if (number, authorization, session) != (7, "Bearer t1", "s1"):
            raise HTTPException(403)

    @app.post("/form")
    async def form(request: Request):
        assert request.headers["content-type"] == "application/x-www-form-urlencoded", request.headers
        assert await request.body() == b"name=ada"
"""


def test_requests_after_a_login(tmp_path: Path) -> None:
    """A request has a body and headers, and uses the cookie and the token of an earlier response, on a free port."""
    (tmp_path / "shop.py").write_text(textwrap.dedent(ACCOUNTS), encoding="utf-8")
    (tmp_path / "login.json").write_text('{"name": "ada"}', encoding="utf-8")
    ended = subprocess.run(
        command(
            "shop:app", "--no-page", "--send", "POST /login", "--body", "@login.json",
            "--send", "GET /accounts/{account}", "--header", "authorization: Bearer {token}",
            "--send", "POST /form", "--body", "name=ada",
        ),
        cwd=tmp_path, env=environment(), capture_output=True, encoding="utf-8", timeout=PATIENCE, check=True,
    )  # fmt: skip
    sent = [line for line in ended.stdout.splitlines() if line.startswith("sent ")]
    assert sent == [f"sent {one}: 52 × 200" for one in ("POST /login", "GET /accounts/{account}", "POST /form")]
    assert not re.search(r"^Serving .*:8000$", ended.stdout, re.MULTILINE)


# Replaces gevent, which is not installed here.
GREEN = """
import sys, types
sys.modules["gevent.monkey"] = types.SimpleNamespace(is_module_patched=lambda name: True)
async def app(scope, receive, send): ...
"""


FAILING = """
    import time
    from contextlib import asynccontextmanager

    from fastapi import FastAPI

    @asynccontextmanager
    async def lifespan(app):
        time.sleep(4)
        raise RuntimeError("no database")
        yield

    app = FastAPI(lifespan=lifespan)
"""


def test_a_start_that_fails(tmp_path: Path) -> None:
    """The exit code is uvicorn's. The summary and the files have the lines that blocked before the failure."""
    (tmp_path / "shop.py").write_text(textwrap.dedent(FAILING), encoding="utf-8")
    files = ("--json", "found.json", "--junit", "found.xml", "--write-baseline", "known.json")
    ended = subprocess.run(
        command("shop:app", "--port", "0", "--check", *FAR_ABOVE, *files),
        cwd=tmp_path, env=environment(), capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert ended.returncode == 3
    assert "RuntimeError: no database" in ended.stderr
    assert "0 requests; 1 finding" in ended.stdout
    [found] = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["findings"]
    assert (found["kind"], found["function"]) == ("startup", "lifespan")
    assert 'tests="2" failures="1" errors="1"' in (tmp_path / "found.xml").read_text(encoding="utf-8")
    assert not (tmp_path / "known.json").exists()


def test_a_start_that_fails_and_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    """The exit code stays that of the start."""
    (tmp_path / "files").mkdir()
    code = textwrap.dedent(FAILING).replace("time.sleep(4)", '__import__("os").rmdir("files")')
    (tmp_path / "shop.py").write_text(code, encoding="utf-8")
    ended = subprocess.run(
        command("shop:app", "--port", "0", "--json", "files/found.json"),
        cwd=tmp_path, env=environment(), capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (ended.returncode, "files/found.json" in ended.stderr) == (3, True), ended


HANGING = """
    import asyncio, time
    from contextlib import asynccontextmanager

    from starlette.applications import Starlette

    async def connect():
        await asyncio.Event().wait()

    @asynccontextmanager
    async def lifespan(app):
        await connect() or time.sleep(1000)
        yield

    app = Starlette(lifespan=lifespan)
"""
# Lowers the command's limit, so that a start that hangs for four seconds ends the command.
IMPATIENT = "from asgi_doctor import cli, deadline\ndeadline.LEAST_SECONDS = 4\ncli.command()\n"


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import time\ntime.sleep(1000)", "the import, at shop.py:2 in <module>: time.sleep(1000)"),
        (HANGING, "the lifespan, at shop.py:8 in connect: await asyncio.Event().wait()"),
        (HANGING.replace("await connect() or ", ""), "the lifespan, at shop.py:12 in lifespan: time.sleep(1000)"),
    ],
    ids=["import", "awaits", "blocks"],
)
def test_a_start_that_hangs(tmp_path: Path, code: str, error: str, loop: str) -> None:
    """With --for, the command ends as after a failed start. The error is one line that names the line that hangs."""
    (tmp_path / "shop.py").write_text(textwrap.dedent(code), encoding="utf-8")
    options = ("--port", "0", "--loop", loop, "--for", "0.1", "--json", "found.json", "--junit", "found.xml")
    ended = subprocess.run(
        [sys.executable, "-c", IMPATIENT, "shop:app", *options],
        cwd=tmp_path, env=environment(), capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert ended.returncode == 3
    assert ended.stderr == f"error: --for 0.1: the start of shop:app has not ended after 4 s: it waits for {error}\n"
    assert "0 requests; " in ended.stdout
    assert (tmp_path / "found.json").exists()
    assert 'errors="1"' in (tmp_path / "found.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize("broken", ["complain", "say"])
def test_a_start_that_hangs_while_an_output_fails(tmp_path: Path, broken: str) -> None:
    """The command ends in spite of the error. Otherwise, a closed terminal would keep the command for ever."""
    (tmp_path / "shop.py").write_text("import time\ntime.sleep(1000)", encoding="utf-8")
    code = IMPATIENT.replace("cli.command()", f"cli.{broken} = None\ncli.command()")
    ended = subprocess.run(
        [sys.executable, "-c", code, "shop:app", "--port", "0", "--for", "0.1"],
        cwd=tmp_path, env=environment(), capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert ended.returncode == 3


def test_a_start_that_may_take_for_ever() -> None:
    """`--for inf` is allowed, so the thread with the deadline waits until the start ends."""
    limit = deadline.Deadline(math.inf, lambda missed: None)
    [waiting] = [thread for thread in threading.enumerate() if thread.name == "deadline of the start"]
    waiting.join(0.2)
    assert waiting.is_alive()
    limit.met()
    waiting.join(PATIENCE)
    assert not waiting.is_alive()


def test_a_signal_during_the_import(tmp_path: Path) -> None:
    """Ctrl-C prints the summary, with the line that blocks the import, and no traceback."""
    nap = "    time.sleep(0.05)"  # short, so that a pause of the machine hides only a few of these lines
    lines = ["import time", "for _ in range(60):", nap, "print('importing', flush=True)", "while True:", nap]
    (tmp_path / "shop.py").write_text("\n".join(lines), encoding="utf-8")
    process = subprocess.Popen(
        command("shop:app", "--port", "0"),
        cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        summary, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")
    assert "shop.py:3 in <module>: once, " in summary


@pytest.mark.slow
def test_the_page(shop: Path) -> None:
    """The page has its own title, and lists a finding as soon as its block has ended."""
    with doctor(shop, *FAR_ABOVE) as running:
        address = re.search(r"http://[\d.:]+", running.line("Page on "))[0]  # type: ignore[index]
        with httpx.Client(base_url=address, verify=NO_CAS, timeout=PATIENCE) as browser:
            assert "<title>asgi-doctor: shop:app</title>" in browser.get("/").text
            assert browser.get("/findings").json() == {"findings": []}
            assert running.client.get("/sleep/7").status_code == 200
            while not (found := browser.get("/findings").json()["findings"]):
                pass
        running.end()
    assert (found[0]["route"], found[0]["source"]) == ("GET /sleep/{number}", "time.sleep(2)")


@pytest.mark.slow
def test_a_loop_that_never_turns_again(shop: Path) -> None:
    """A hanging line is named at once. The second signal ends the doctor with a summary."""
    with doctor(shop, "--no-page") as running, ThreadPoolExecutor(1) as sender:
        hanging = sender.submit(running.client.get, "/hang")
        assert "blocked for " in running.line(_place(shop, "time.sleep(1000)", "hang"))
        running.process.send_signal(signal.SIGINT)
        running.line("Stopping")
        _, summary = running.end(signal.SIGINT)
        hanging.exception(PATIENCE)  # uvicorn may still answer with 500
    assert _place(shop, "time.sleep(1000)", "hang") + ": once, " in summary


@pytest.mark.slow
def test_a_thread_that_never_ends(shop: Path) -> None:
    """The second signal ends the doctor although the thread of an endpoint still waits."""
    with (shop / "shop.py").open("a", encoding="utf-8") as file:
        file.write("\n@app.get('/wait')\ndef wait():\n    print('waiting', flush=True)\n    time.sleep(1000)\n")
    with doctor(shop, "--no-page") as running, ThreadPoolExecutor(1) as sender:
        waiting = sender.submit(running.client.get, "/wait")
        running.line("waiting")
        running.process.send_signal(signal.SIGINT)
        running.line("Stopping")
        code, summary = running.end(signal.SIGINT)
        waiting.exception(PATIENCE)  # uvicorn may still answer with 500
    assert code == 0
    assert "1 request; " in summary


@pytest.mark.slow
@pytest.mark.parametrize("target", ["app.main:app", "app.main:create --factory"])
def test_a_package_called_app(tmp_path: Path, target: str) -> None:
    """The user's package may be called `app`, like the service's package, and may have a factory."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").touch()
    (tmp_path / "app" / "main.py").write_text(textwrap.dedent(SHOP), encoding="utf-8")
    ended = subprocess.run(
        command(*target.split(), "--port", "0", "--no-page", "--for", "0.1", *FAR_ABOVE),
        cwd=tmp_path, env=environment(), capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "0 requests; 0 findings" in ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["shop"], "shop: allowed is module:attribute, as in shop.main:app"),
        (["shops:app"], "shops cannot be imported: ModuleNotFoundError: No module named 'shops'"),
        (["broken:app"], "broken cannot be imported: ZeroDivisionError: division by zero (broken.py:1 in <module>)"),
        (["exits:app"], "exits cannot be imported: SystemExit: no database (exits.py:1 in <module>)"),
        (["shop:app", "--json", "none/found.json"], "none/found.json: there is no folder none"),
        (["shop:shop"], "shop:shop: shop has no attribute shop"),
        (["shop:not_an_app"], "shop:not_an_app: an object of type int is not an ASGI app"),
        (["old:app"], "old:app: an application of ASGI 2 (asgiref.compatibility.guarantee_single_callable makes it "),
        (["green:app"], "green:app cannot be watched: gevent has replaced threads by greenlets, "),
        (["shop:create"], "a function that is not async (a factory? then add --factory) is not an ASGI app"),
        (["shop:app", "--host", "192.0.2.1"], "--host 192.0.2.1 --port 0: cannot listen there: "),
        (["shop:app", "--host", "a..b"], "--host a..b --port 0: cannot listen there: "),
        (["shop:app", "--baseline", "none.json"], "--baseline none.json: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_served(shop: Path, arguments: list[str], error: str) -> None:
    """The error is one line with the reason. The exit code is 2."""
    (shop / "broken.py").write_text("1 / 0\n", encoding="utf-8")
    (shop / "exits.py").write_text("raise SystemExit('no database')\n", encoding="utf-8")
    (shop / "old.py").write_text("def app(scope):\n    return scope", encoding="utf-8")
    (shop / "green.py").write_text(GREEN, encoding="utf-8")
    ended = subprocess.run(
        command(*arguments, "--port", "0"),
        cwd=shop, env=environment(), capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert ended.stdout == ""
    [line] = ended.stderr.splitlines()
    assert line.startswith("error: ")
    assert error in line


def test_uvloop_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 2, because 1 is for findings."""
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert cli.main(["shop:app", "--loop", "uvloop"]) == 2
    assert capsys.readouterr().err == "error: --loop uvloop: it is not installed: pip install uvloop\n"
