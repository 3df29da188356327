"""Measures the CPU time of a request under each installed Python, and under each server."""

import shutil
import subprocess
import sys
from functools import cache, partial
from itertools import product
from pathlib import Path

from lab.measurement.case_users import watch
from lab.measurement.expected_answers import Claim, Figures, Ratio
from lab.measurement.question import NotHere, Question
from lab.measurement.stage import Stage
from loadtest.record.folders import ROOT
from loadtest.stage import environments

USERS, SECONDS = 16, 3
CPU = "CPU ms a request"
APP = "lab.questions.python_and_server:app"
UVICORN = ("-m", "uvicorn", "--log-level", "warning", "--no-access-log", APP)
SERVERS = {
    "uvicorn": ("UVICORN_PORT", [*UVICORN, "--loop", "uvloop"]),
    "uvicorn, asyncio": ("UVICORN_PORT", [*UVICORN, "--loop", "asyncio"]),
    "granian": ("GRANIAN_PORT", ["-m", "granian", "--interface", "asgi", "--log-level", "warning", APP]),
}
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
# The claims compare servers under this version of Python, and two builds of this version. This is a constant, not the
# running version, because any version of Python may generate the documents from stored results.
COMPARED = "3.11"
SYSTEM = f"{COMPARED} of the system"  # built with profile-guided optimisation, which pyenv does not use by default
VERSIONS = [*sorted({COMPARED, "3.13", "3.14", HERE}), SYSTEM]
LOCK = ROOT / "locks" / "dev.lock"


@cache
def python(version: str) -> Path:
    """Returns the interpreter of an environment with Python `version` and the lab's packages.

    Raises NotHere if this Python is not installed, and CalledProcessError if pip fails.
    """
    if version == HERE:
        return Path(sys.executable)
    for base in _interpreters(version):
        if Path(base).is_file() and _runs(base):
            return environments.python(LOCK, ROOT / ".run" / "pythons", base)
    raise NotHere(f"Python {version} is not installed")


def _runs(base: str) -> bool:
    """Returns True if the interpreter runs. A shim of pyenv does not run if its version is not installed."""
    return subprocess.run([base, "-V"], capture_output=True, check=False, timeout=10).returncode == 0


def _interpreters(version: str) -> list[str]:
    """Returns the paths at which the interpreter of Python `version` may be.

    Returns no path for SYSTEM if this process runs that Python, because the case COMPARED would then be the same.
    """
    if version == SYSTEM:
        return [] if HERE == COMPARED and sys.base_prefix == "/usr" else [f"/usr/bin/python{COMPARED}"]
    return [
        shutil.which(f"python{version}") or "",
        *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")),
    ]


def _measured(stage: Stage, version: str, server: str, path: str) -> Figures:
    port, command = SERVERS[server]
    with stage.serve([str(python(version)), *command], port=port) as app:
        watch(f"{app.url}/{path}", USERS, 1)
        before = app.cpu_seconds()
        seen = watch(f"{app.url}/{path}", USERS, stage.seconds(SECONDS))
        spent = app.cpu_seconds() - before
    return {CPU: 1000 * spent / max(1, len(seen.latencies)), "p99 ms": seen.percentile(99)}


def _ratio(path: str, over: tuple[str, str], under: tuple[str, str]) -> Ratio:
    return Ratio(CPU, *(f"{server}, Python {version}, {path}" for version, server in (over, under)))


QUESTION = Question(
    title="Which Python and which server",
    asked="fastapi, uvicorn and granian: their own tables compare requests that do nothing",
    here=f"{USERS} users for {SECONDS} s, one process; requests that do nothing, and a SELECT of twenty rows",
    figure=CPU,
    database=True,
    cases={
        f"{server}, Python {version}, {path}": partial(_measured, version=version, server=server, path=path)
        for path, version, server in product(("nothing", "real"), VERSIONS, SERVERS)
    },
    quick=tuple(
        f"{server}, Python {HERE}, {path}" for path in ("nothing", "real") for server in ("uvicorn", "granian")
    ),
    claims=tuple(
        Claim(f"CPU of a request, {what}: {name}", _ratio(path, over, under), side="less")
        for path, what in (("nothing", "which does nothing"), ("real", "a real one"))
        for name, over, under in (
            ("Python 3.13 ÷ 3.11", ("3.13", "uvicorn"), ("3.11", "uvicorn")),
            ("Python 3.14 ÷ 3.13", ("3.14", "uvicorn"), ("3.13", "uvicorn")),
            ("the system's Python ÷ the same version, as it is here", (SYSTEM, "uvicorn"), (COMPARED, "uvicorn")),
            ("granian ÷ uvicorn", (COMPARED, "granian"), (COMPARED, "uvicorn")),
            ("uvloop ÷ asyncio", (COMPARED, "uvicorn"), (COMPARED, "uvicorn, asyncio")),
        )
    ),
)
