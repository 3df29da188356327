"""The environment of a measurement: commit, time, machine, versions."""

import ast
import os
import platform
import re
import ssl
import subprocess
import sys
import sysconfig
from datetime import UTC, datetime
from pathlib import Path

from loadtest.record.comparison import Environment
from loadtest.record.folders import ROOT

# Results and documents do not count as code. In profiles/, only the pictures are results; all other files are code.
_PICTURES = tuple(f"profiles/*.{kind}" for kind in ("png", "svg", "txt", "webp"))
_RESULTS = ("loadtest/results", "tests/cluster/record.json", "docs/simulation", "*.md", *_PICTURES)
# Code that only checks, stores or draws figures. A change to it does not change a figure.
_NOT_MEASURED = ("tests", ".ci", "loadtest/record", "loadtest/report", "lab/report")


def environment(*tools: str) -> Environment:
    """Describes the environment of this process. `tools` are commands on PATH that have an option `-version`."""
    return Environment(
        commit=commit(),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        machine={
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "cpu": _cpu(),
            "cores": str(os.cpu_count()),
            "python": _python(),
            "openssl": ssl.OPENSSL_VERSION.split()[1],
        },
        tools={tool: version(tool, "-version") for tool in tools},
    )


def _python() -> str:
    """Returns the version of Python, with a note if it was built without optimisations, as pyenv does by default.

    Python from Docker's images is optimised. Debian's, in /usr, is optimised as well, but does not record its options.
    """
    options = sysconfig.get_config_var("CONFIG_ARGS") or ""
    optimised = "--enable-optimizations" in options or sys.base_prefix == "/usr"
    return platform.python_version() + ("" if optimised else " (built without optimisations)")


def commit(*, of_tests: bool = False) -> str:
    """Returns the short hash of the last commit that changed what is measured or, if `of_tests` is true, any code.

    A commit that changed only comments and docstrings does not count. The hash ends in -dirty if files of the code have
    uncommitted changes. Without git, returns the variable LOADTEST_COMMIT or, if it is not set, `unknown`.
    """
    excluded = _RESULTS if of_tests else (*_RESULTS, *_NOT_MEASURED)
    code = ("--", ".", *(f":!{file}" for file in excluded))
    try:
        commits = _git("log", "--format=%h", "--abbrev=7", *code).split()
        short = next((one for one in commits if _changes_statements(one, code)), "unknown")
        changed = _git("status", "--porcelain", *code)
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("LOADTEST_COMMIT", "unknown")
    return f"{short}-dirty" if changed else short


def _changes_statements(commit: str, code: tuple[str, ...]) -> bool:
    names = _git("diff-tree", "--root", "-r", "--no-commit-id", "--name-only", commit, *code).splitlines()
    return any(
        not name.endswith(".py") or _statements(f"{commit}^", name) != _statements(commit, name) for name in names
    )


def _statements(commit: str, name: str) -> str | None:
    """Returns a Python file's syntax tree without docstrings, as text, or None if the commit has no such file.

    Returns the source text if this Python cannot parse it.
    """
    try:
        source = _git("show", f"{commit}:{name}")
    except subprocess.CalledProcessError:
        return None
    try:
        return ast.dump(_WithoutTexts().visit(ast.parse(source)))
    except SyntaxError:
        return source


class _WithoutTexts(ast.NodeTransformer):
    """Removes docstrings, and other statements that consist of a constant."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def version(*command: str) -> str:
    """Returns the version that `command` prints, or `unknown` if it prints none."""
    answer = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
    found = re.search(r"v?\d+\.\d+\.\d+", answer.stdout + answer.stderr)
    return found[0].removeprefix("v") if found else "unknown"


def _cpu() -> str:
    try:
        names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        names = []
    return names[0] if names else platform.processor() or "unknown"
