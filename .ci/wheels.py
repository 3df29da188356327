"""Checks that each lock installs from wheels alone, on each system and Python that README names. Prints a table.

python .ci/wheels.py
"""

import os
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import NamedTuple

from install import UV, pip_options, uv_environment
from locks import LOCKS, SETS

ROOT = Path(__file__).parents[1]
# uv's names of the systems. manylinux_2_28 needs glibc 2.28 or newer: Debian 10, Ubuntu 20.04 or newer.
SYSTEMS = {
    "Linux x86_64": "x86_64-manylinux_2_28",
    "Linux aarch64": "aarch64-manylinux_2_28",
    "macOS arm64": "aarch64-apple-darwin",
    "macOS x86_64": "x86_64-apple-darwin",
}
RESOLVE = [
    *(UV, "pip", "compile", "--python", sys.executable, "--no-deps", "--no-header", "--no-annotate"),
    *("--only-binary", ":all:"),
    *("--no-binary", "forbiddenfruit"),  # this package has no wheel, but needs no compiler
]


class Cell(NamedTuple):
    """A cell of the table. `lock`: the largest lock that installs, or "" if no lock installs.

    `packages`: the number of packages in `lock`. `error`: uv's error for the largest of all locks, or "" if that lock
    installs.
    """

    lock: str
    packages: int
    error: str


def pythons() -> list[str]:
    """Returns the versions of Python that pyproject.toml allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    first, end = re.findall(r"3\.(\d+)", project["requires-python"])
    return [f"3.{minor}" for minor in range(int(first), int(end))]


def cell(system: str, python: str, environment: dict[str, str]) -> Cell:
    """Finds the largest lock that installs on `system` with Python `python`. This machine may be another system."""
    target = ["--python-platform", SYSTEMS[system], "--python-version", python]
    error = ""
    for lock in reversed(SETS):
        command = [*RESOLVE, *target, str(LOCKS / f"{lock}.lock")]
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False)
        if ended.returncode == 0:
            return Cell(lock, len(re.findall(r"^\S+==", ended.stdout, re.MULTILINE)), error)
        error = error or f"{lock}.lock, {system}, Python {python}:\n{ended.stderr}"
    return Cell("", 0, error)


def main() -> None:
    environment = uv_environment(pip_options())
    wanted = [*product(SYSTEMS, pythons())]
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as threads:  # uv mostly waits for the network
        found = threads.map(lambda key: cell(key[0], key[1], environment), wanted)
        cells = dict(zip(wanted, found, strict=True))
    sys.stdout.write(table(cells))
    if errors := [cell.error for cell in cells.values() if cell.error]:
        sys.exit("\n".join(errors))


def table(cells: dict[tuple[str, str], Cell]) -> str:
    """Returns the table: the largest lock that installs and its number of packages, by system and Python."""
    lines = [f"{'from wheels':<14}" + "".join(f"{python:>12}" for python in pythons())]
    for system in SYSTEMS:
        found = [cells[system, python] for python in pythons()]
        lines.append(f"{system:<14}" + "".join(f"{f'{each.lock} {each.packages}':>12}" for each in found))
    return "\n".join([*lines, f"({' < '.join(SETS)}: each lock includes the one before)", ""])


if __name__ == "__main__":
    main()
