"""The check finds every form of assignment to another package's attribute."""

import runpy
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "assignments.py"


def check(root: Path, code: str, *exceptions: str) -> Any:
    (root / "app").mkdir(exist_ok=True)
    (root / "app" / "module.py").write_text(code, encoding="utf-8")
    return runpy.run_path(str(SCRIPT))["check"](root, exceptions)


@pytest.mark.parametrize(
    "code",
    [
        "import uvicorn\nuvicorn.Config.reload = 1",
        "from multiprocess import context\ncontext.Process = 1",
        "import uvicorn\nuvicorn.timeout += 1",
        "from starlette.routing import Route\ndel Route.app",
        "from starlette.routing import Route\nsetattr(Route, 'app', 1)",
        "from starlette.routing import Route\ncall_later(1, setattr, Route, 'app', 1)",
        "from starlette.routing import Route\ntype.__setattr__(Route, 'app', 1)",
        "def f(app):\n    app.routes[-1].app = 1",
        "def f(config):\n    config.loaded_app, other = 1, 2",
        "def f(route):\n    for route.app in (1, 2): pass",
        "class A:\n    def f(self):\n        self.cycle.keep_alive = False",
        "def f(app):\n    app.state.admission.draining = True",
    ],
)
def test_an_assignment_is_found(tmp_path: Path, code: str) -> None:
    """The check finds attributes of modules, classes and objects that are set or deleted in any of these ways."""
    line = len(code.splitlines())
    [found] = check(tmp_path, code)
    assert found.startswith(f"app/module.py:{line}: assigns to an attribute of ")


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    def f(self):\n        self.x = 1\n        self.x += 1",
        "class A:\n    @classmethod\n    def f(cls):\n        cls.x = 1",
        "def f(app, request):\n    app.state.x = 1\n    request.state.y = 2",
        "import uvicorn\nprint(uvicorn.Config.reload)\nx = uvicorn.x",
    ],
)
def test_what_is_allowed(tmp_path: Path, code: str) -> None:
    """Code may assign to attributes of `self`, `cls` and Starlette's `state`, and may read any attribute."""
    assert check(tmp_path, code) == []


def test_an_exception_allows_one_object_of_one_file(tmp_path: Path) -> None:
    """The check fails for an exception that matches nothing."""
    assert check(tmp_path, "record.x = 1", "app/module.py: record") == []
    assert len(check(tmp_path, "record.x = 1\nother.x = 1", "app/module.py: record")) == 1
    assert check(tmp_path, "", "app/module.py: record") == ["app/module.py: record: this exception matches nothing"]
