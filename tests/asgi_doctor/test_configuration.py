"""`[tool.asgi-doctor]` in pyproject.toml: options, `allow`, and the baseline."""

from pathlib import Path
from typing import Any

import pytest

from asgi_doctor import configuration, load, options
from asgi_doctor.configuration import Allowed, Permitted
from asgi_doctor.errors import DoctorError
from asgi_doctor.finding import Cure, Finding, Kind
from asgi_doctor.request import Request
from asgi_doctor.stacks import Location

FOUND = Finding("shop.py", 7, "pay", "GET /pay/{id}", Kind.WAITS, 1, 0.2, 0.2, (), Cure("wait"), "sleep(1)",
                libraries=("boto3", "urllib3"))  # fmt: skip


def _configured(folder: Path, table: str) -> configuration.Configuration:
    (folder / "pyproject.toml").write_text(f"[tool.asgi-doctor]\n{table}\n", encoding="utf-8")
    return configuration.read(folder)


def test_options(tmp_path: Path) -> None:
    """Options have the names of the command line, which overrides them. `attach` ignores options for serving."""
    configured = _configured(tmp_path, 'warn = 0.2\ncheck = true\ngithub = false\nsend = ["GET /a", "GET /b"]')
    found = options.parse(["shop:app", "--warn", "0.3"], "asgi-doctor", configured)
    assert (found.target, found.warn, found.check, found.github) == ("shop:app", 0.3, True, False)
    assert [request.path for request in found.send] == ["/a", "/b"]
    found = options.parse(["shop:app", "--send", "GET /c"], "asgi-doctor", configured)
    assert [request.path for request in found.send] == ["/c"]
    attached = options.parse(["attach", "7"], "asgi-doctor", configured)
    assert (attached.pid, attached.warn, attached.seconds) == (7, 0.2, 10)


def test_requests_with_headers(tmp_path: Path) -> None:
    """Each request in a table has its own body and headers."""
    table = '{ body = "{}", request = "POST /b", header = ["A: 1", "B: 2"] }'
    configured = _configured(tmp_path, f'send = ["GET /a", {table}, {{ request = "GET /c", header = "C: 3" }}]')
    found = options.parse(["shop:app"], "asgi-doctor", configured)
    assert found.send == [
        load.Request("GET", "/a"),
        load.Request("POST", "/b", (("A", "1"), ("B", "2")), "{}"),
        load.Request("GET", "/c", (("C", "3"),)),
    ]


@pytest.mark.parametrize(
    "table", ['header = ["A: b"]', 'send = "GET /a"\nbody = "{}"', 'send = [{ body = "{}" }]', "send = [{ path = 7 }]"]
)
def test_a_body_without_its_request(tmp_path: Path, table: str) -> None:
    """The error shows an example of an allowed table."""
    with pytest.raises(DoctorError, match=r"asgi-doctor\]: (header|body|send): .*\{ request = "):
        _configured(tmp_path, table)


@pytest.mark.parametrize(
    ("table", "error"),
    [("wran = 2", "unrecognized options: --wran=2"), ('warn = "fast"', "argument --warn: 'fast': allowed is a number")],
)
def test_a_wrong_option(tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, error: str) -> None:
    """The error names the file, and the exit code is 2."""
    with pytest.raises(SystemExit, match="2"):
        options.parse(["shop:app"], "asgi-doctor", _configured(tmp_path, table))
    assert f"asgi-doctor: pyproject.toml, [tool.asgi-doctor]: error: {error}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("entry", "allowed"),
    [
        ('library = "urllib3"', True),
        ('library = "httpx"', False),
        ('route = "GET /pay/{id}"', True),
        ('route = "GET /p*"', True),
        ('route = "POST *"', False),
        ('library = "boto3", route = "GET /orders"', False),
    ],
)
def test_allowed(tmp_path: Path, entry: str, allowed: bool) -> None:
    """An entry has a library that the line calls, a pattern of routes, or both. Other findings remain."""
    allow = _configured(tmp_path, f'allow = [{{ {entry}, because = "it is rare" }}]').allow
    assert Permitted(allow, set()).new([FOUND]) == ([] if allowed else [FOUND])


@pytest.mark.parametrize("entry", ['library = "boto3"', 'because = "so"', 'path = "/", because = "so"', "because = 1"])
def test_an_entry_that_is_not_allowed(tmp_path: Path, entry: str) -> None:
    """An entry without a reason, or without anything to allow, is an error."""
    with pytest.raises(DoctorError, match=r"allow: .*: allowed is "):
        _configured(tmp_path, f"allow = [{{ {entry} }}]")


def test_a_folder_without_a_configuration(tmp_path: Path) -> None:
    """A folder without pyproject.toml gives an empty configuration."""
    assert configuration.read(tmp_path) == ([], [], None)


def test_the_number_at_once(tmp_path: Path) -> None:
    """Fifty requests at once is the default; a number of at least one is allowed."""
    found = [options.parse(["a:b", *more], "", configuration.read(tmp_path)) for more in ([], ["--at-once", "8"])]
    assert [one.at_once for one in found] == [50, 8]
    with pytest.raises(SystemExit, match="2"):
        options.parse(["a:b", "--at-once", "0"], "", configuration.read(tmp_path))


@pytest.mark.parametrize(
    ("scope", "route"),
    [
        ({"path": "/orders/7/lines/9f1c3b52-8d5e-4a7b-9c0d-1e2f3a4b5c6d"}, "GET /orders/{}/lines/{}"),
        ({"path": "/v1/orders"}, "GET /v1/orders"),
        ({"path": "/orders/7", "endpoint": None, "path_params": {"id": 7}}, "GET /orders/{id}"),
        ({"path": "/reports/2024", "endpoint": None, "path_params": {}}, "GET /reports/2024"),
    ],
)
def test_routes_in_a_baseline(scope: dict[str, Any], route: str) -> None:
    """A route without named parameters is the same for each order's number, so a baseline can contain the route."""
    assert Request({"method": "GET"} | scope, None).route == route


CODE = """\
def fetch(): # asgi-doctor: ok, because it runs at night
    time.sleep(1)

def pay():
    time.sleep(1)  # asgi-doctor: ok, because it is rare
    time.sleep(2)  # asgi-doctor: ok
    # asgi-doctor: ok, because the answer is cached
    time.sleep(3)
"""


@pytest.mark.parametrize(
    ("line", "function", "allowed"),
    [(2, "fetch", True), (5, "Shop.pay", True), (6, "pay", False), (8, "pay", True), (5, "other", True)],
)
def test_a_comment(tmp_path: Path, line: int, function: str, allowed: bool) -> None:
    """A comment with a reason allows its line, the line below it, or its whole function."""
    (tmp_path / "shop.py").write_text(CODE, encoding="utf-8")
    assert Location(str(tmp_path / "shop.py"), line, function).allowed is allowed


def test_libraries() -> None:
    """The name of a library is the name by which it is imported."""
    packages = "/venv/lib/python3.11/site-packages"
    assert Location(f"{packages}/urllib3/pool.py", 1, "get").library == "urllib3"
    assert Location(f"{packages}/six.py", 1, "get").library == "six"
    assert Location("/srv/shop/main.py", 1, "get").library == ""
    assert Allowed("urllib3", "*").fits(FOUND)


def test_the_first_baseline(tmp_path: Path) -> None:
    """The file of `baseline` may be missing only in the run that writes it."""
    file = _configured(tmp_path, 'baseline = "known.json"').baseline
    assert configuration.known_findings(file, writes=True) == set()
    with pytest.raises(DoctorError, match=r"--write-baseline \S+known\.json` writes one"):
        configuration.known_findings(file)
