"""The wheel of asgi-doctor: the command and the pytest plugin work in an environment without this project."""

import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import venv
import zipfile
from pathlib import Path

import pytest

from tests.harness.service import clean_environment

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "packaging" / "asgi-doctor"
TESTED = """
import asyncio
import time

import httpx
import pytest
from fastapi import FastAPI

app = FastAPI()


def fetch():
    time.sleep(1)


@app.get("/waits/{number}")
async def waits(number: int):
    fetch()


@app.get("/awaits")
async def awaits():
    await asyncio.sleep(0.3)


async def get(path):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://shop") as client:
        assert (await client.get(path)).status_code == 200


@pytest.fixture(params=[("asyncio", {}), ("asyncio", {"use_uvloop": True})], ids=["asyncio", "uvloop"])
def anyio_backend(request):
    return request.param


@pytest.mark.anyio
@pytest.mark.no_blocking(limit=0.1)
async def test_waits():
    await get("/waits/7")


@pytest.mark.anyio
@pytest.mark.no_blocking(5)
async def test_a_limit_by_position():
    await get("/waits/7")


@pytest.mark.anyio
async def test_waits_with_the_fixture(no_blocking):
    await get("/waits/7")


@pytest.mark.anyio
@pytest.mark.no_blocking(limit=0.5)
async def test_awaits():
    await get("/awaits")


@pytest.mark.no_blocking(limit=0.1)
@pytest.mark.filterwarnings("ignore")
def test_client():
    from starlette.testclient import TestClient

    TestClient(app).get("/waits/7")


def test_without_the_mark():
    asyncio.run(get("/waits/7"))
"""


def _build(kind: str, source: Path, folder: Path) -> Path:
    """Builds a wheel or an sdist into the empty folder, and returns its file."""
    built = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(built, cwd=source, check=True, capture_output=True)
    [file] = folder.iterdir()
    return file


@pytest.mark.slow
def test_the_sdist(tmp_path: Path) -> None:
    """The wheel of the unpacked sdist is the wheel of this repository, so `python -m build` can make both."""
    sdist = _build("sdist", PACKAGE, tmp_path / "sdist")
    shutil.unpack_archive(sdist, tmp_path)
    [unpacked] = tmp_path.glob("asgi_doctor-*")
    wheels = [_build("wheel", source, tmp_path / name) for name, source in (("a", PACKAGE), ("b", unpacked))]
    contents = [{file.filename: file.CRC for file in zipfile.ZipFile(wheel).infolist()} for wheel in wheels]
    assert contents[0] == contents[1]
    code = [file for file in (ROOT / "asgi_doctor").rglob("*.*") if file.suffix != ".pyc"]
    assert {str(file.relative_to(ROOT)) for file in code} == {name for name in contents[0] if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of the programs of a new environment with the wheel, and this environment's packages."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = _build("wheel", PACKAGE, folder / "built")
    venv.create(folder / "environment", with_pip=False)
    packages = next((folder / "environment" / "lib").glob("python*")) / "site-packages"
    (packages / "these.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "environment"), "install", "--quiet"]
    subprocess.run([*pip, "--no-index", "--no-deps", str(wheel)], check=True)
    return folder / "environment" / "bin"


@pytest.mark.slow
def test_the_license(installed: Path) -> None:
    """The wheel contains this repository's license. Hatchling finds it only in the package's own folder."""
    [metadata] = installed.parent.glob("lib/python*/site-packages/asgi_doctor-*.dist-info")
    assert (metadata / "licenses" / "LICENSE").read_text(encoding="utf-8") == (ROOT / "LICENSE").read_text(
        encoding="utf-8"
    )
    assert "License-File: LICENSE" in (metadata / "METADATA").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_plugin(installed: Path, tmp_path: Path) -> None:
    """A test whose application blocks the loop fails with the line, the route and the seconds. Other tests pass."""
    (tmp_path / "test_shop.py").write_text(TESTED, encoding="utf-8")
    ended = subprocess.run(
        [str(installed / "python"), "-m", "pytest", "-q", "-rN", "-p", "no:cacheprovider"],
        cwd=tmp_path, env=clean_environment(), capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert "5 failed, 5 passed" in ended.stdout, ended.stdout + ended.stderr
    line = TESTED.splitlines().index("    time.sleep(1)") + 1
    assert ended.stdout.count(f"GET /waits/{{number}}: test_shop.py:{line} in fetch blocked the event loop for ") == 5
    assert ended.stdout.count("waits; cure: `await asyncio.sleep(…)`") == 5


@pytest.mark.slow
def test_the_five_minutes_of_the_readme(installed: Path, tmp_path: Path) -> None:
    """The doctor finds the fault of the README's application. The README's test fails, and passes with the cure."""
    text = (PACKAGE / "README.md").read_text(encoding="utf-8").partition("## Five minutes")[2]
    shop, command, test, pytest_command = re.findall(r"```(?:python|sh)\n(.*?)```", textwrap.dedent(text), re.DOTALL)[
        :4
    ]
    files = {"shop.py": shop, "test_shop.py": test}

    def run(line: str) -> tuple[int, str]:
        for name, code in files.items():
            (tmp_path / name).write_text(textwrap.dedent(code), encoding="utf-8")
        program, *arguments = shlex.split(line)
        ended = subprocess.run(
            [str(installed / program), *arguments],
            cwd=tmp_path, env=clean_environment(), capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        return ended.returncode, ended.stdout

    code, output = run(command)
    assert code == 0
    assert re.search(r"shop\.py:10 in order: \d+ times", output)  # 52, if no other process has the core meanwhile
    code, output = run(pytest_command)
    assert code == 1
    assert "GET /orders/{number}: shop.py:10 in order blocked the event loop for 0." in output
    files["shop.py"] = shop.replace("async def order", "def order")
    assert run(pytest_command)[0] == 0


@pytest.mark.slow
def test_the_command(installed: Path, tmp_path: Path) -> None:
    """The console script serves an application whose package is called `app`, and finds its fault."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").touch()
    code = TESTED.partition("async def get")[0].replace("import pytest\n", "")
    # Shorter, because each of the 52 requests of `--send` blocks the others.
    (tmp_path / "app" / "main.py").write_text(code.replace("time.sleep(1)", "time.sleep(0.3)"), encoding="utf-8")
    ended = subprocess.run(
        [str(installed / "asgi-doctor"), "app.main:app", "--port=0", "--check", "--send", "GET /waits/7"],
        cwd=tmp_path, env=clean_environment(), capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "GET /waits/{number} · waits" in ended.stdout
