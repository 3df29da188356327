"""Stacks: which locations belong to the user, and how locations are shown."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from asgi_doctor.greenlets import frames_of
from asgi_doctor.stacks import Location, Stack, claim_package, coroutine, depth_of_loop, in_app, short, stack_of

RUN = Location("/shop/orders.py", 10, "create")
SELECT = Location(str(Path(sys.modules["selectors"].__file__ or "")), 40, "select")
PACKAGE = Location("/venv/lib/python3.11/site-packages/requests/api.py", 50, "get")
FROZEN = Location("<frozen importlib._bootstrap>", 60, "_find_and_load")


@pytest.mark.parametrize("claimed", ["bookshop.py", "bookshop"])
def test_an_application_among_installed_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, claimed: str) -> None:
    """Only the claimed module or package is the user's, not the packages beside it. It need not be imported yet."""
    monkeypatch.setattr("asgi_doctor.stacks._claimed", ())
    packages = tmp_path / "site-packages"
    file = packages / claimed if claimed.endswith(".py") else packages / claimed / "__init__.py"
    file.parent.mkdir(parents=True)
    file.touch()
    monkeypatch.syspath_prepend(str(packages))
    assert not in_app(str(file))
    claim_package("bookshop.main")
    assert in_app(str(file))
    assert not in_app(str(packages / "requests" / "api.py"))
    in_app.cache_clear()


def test_locations_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are relative to the current directory or to the libraries. Only the innermost library is shown."""
    monkeypatch.setattr(Path, "cwd", lambda: Path("/shop"))
    assert str(RUN) == "orders.py:10 in create"
    assert str(PACKAGE) == "…/requests/api.py:50 in get"
    assert short((PACKAGE, RUN, PACKAGE, SELECT)) == "orders.py:10 in create → …/selectors.py:40 in select"


def test_frames_of_the_loop_are_left_out() -> None:
    """A stack begins with the outermost coroutine. If it has only frames of the loop, the innermost frame remains."""

    async def outermost(inner: Callable[[], Stack]) -> Stack:
        return inner()

    def stack() -> Stack:
        return stack_of(frames_of(sys._getframe()), depth_of_loop())

    with pytest.raises(StopIteration) as ended:
        outermost(stack).send(None)
    assert [location.function.rpartition(".")[2] for location in ended.value.value] == ["outermost", "stack"]
    assert [location.function for location in stack_of(frames_of(sys._getframe()), 1_000)] == [
        "test_frames_of_the_loop_are_left_out",
    ]
    assert depth_of_loop() == 0


SHOP = """\
async def pay(order):
    return total(order)

def total(order):
    return fetch(order)

async def fetched(order): fetch(order)
"""


@pytest.mark.parametrize(
    ("calls", "nearest"),
    [
        ([(2, "pay"), (5, "total")], "shop.py:2 in pay"),
        ([(7, "fetched"), (2, "pay"), (5, "total")], "shop.py:2 in pay"),
        ([(7, "fetched")], ""),
        ([(5, "total")], ""),
    ],
)
def test_where_the_await_belongs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: list[tuple[int, str]], nearest: str
) -> None:
    """The nearest `async def` is named unless the line is in it. Calls of libraries inside the line do not count."""
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    own = [Location(str(tmp_path / "shop.py"), *call) for call in calls]
    assert coroutine((PACKAGE, *own, PACKAGE), own[-1]) == nearest


def test_a_line_in_a_template() -> None:
    """The line number is the template's. Jinja runs generated code, which has more lines, under the template's name."""
    template = SimpleNamespace(get_corresponding_lineno=lambda line: line - 20)
    found: list[Stack] = []
    names = {"__jinja_template__": template, "call": lambda: found.append(stack_of(frames_of(sys._getframe()), 0))}
    exec(compile("\n" * 21 + "call()", "/shop/templates/orders.html", "exec"), names)  # noqa: S102  # as Jinja does
    assert found[0][-2][:2] == ("/shop/templates/orders.html", 2)
