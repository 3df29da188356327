"""Another commit of this repository: a worktree for one run, with a virtual environment for that commit's lock."""

import fcntl
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from app.errors import ConfigurationError
from loadtest.record import meta
from loadtest.record.folders import ROOT
from loadtest.stage import environments

# The first one that a commit has: the service needs no more than the first.
LOCKS = ("locks/app.lock", "requirements.lock", "requirements-loadtest.lock")


class Checkout(NamedTuple):
    """`commit`: the short hash."""

    commit: str
    folder: Path
    python: Path


@contextmanager
def checkout(commit: str, root: Path = ROOT) -> Iterator[Checkout]:
    """Checks `commit` out in `.run/against`, and removes the worktree at the end. The environment stays.

    Raises ConfigurationError if there is no git, no such commit, or no lock in it, or if another run does the same;
    CalledProcessError if git or pip fails.
    """
    full = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    if not full:
        raise ConfigurationError(f"--against={commit}: {root} has no such commit")
    cache = root / ".run" / "against"
    folder = cache / "worktree"
    with _alone(cache):
        _remove(root, folder)  # it is there if an earlier run was killed
        try:
            subprocess.run([*_command(root), "worktree", "add", "--quiet", "--detach", folder, full], check=True)
            yield Checkout(full[:7], folder, environments.python(_lock(folder, commit), cache / "environments"))
        finally:
            _remove(root, folder)


def other_python(base: str) -> tuple[Checkout, str]:
    """Returns this tree with an environment that the interpreter `base` has made, and the interpreter's version.

    Raises ConfigurationError if `base` is no Python interpreter, CalledProcessError if the installation fails.
    """
    asked = [base, "-c", "import platform; print(platform.python_version(), end='')"]
    try:
        version = subprocess.run(asked, check=True, capture_output=True, encoding="utf-8").stdout
    except (OSError, subprocess.CalledProcessError):
        raise ConfigurationError(f"--python={base}: this is no Python interpreter") from None
    python = environments.python(ROOT / LOCKS[0], ROOT / ".run" / "pythons", base)
    return Checkout(meta.commit(), ROOT, python), f"Python {version}"


def _command(root: Path) -> list[str]:
    return ["git", "-C", str(root)]


def _git(root: Path, *arguments: str) -> str:
    """The output; empty if git fails. Raises ConfigurationError without git."""
    try:
        ended = subprocess.run([*_command(root), *arguments], capture_output=True, encoding="utf-8", check=False)
    except FileNotFoundError:
        raise ConfigurationError("--against needs git, which is not on PATH") from None
    return ended.stdout.strip()


def _lock(folder: Path, commit: str) -> Path:
    for name in LOCKS:
        if (folder / name).is_file():
            return folder / name
    raise ConfigurationError(f"--against={commit}: that commit has no {' and no '.join(LOCKS)}")


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Raises ConfigurationError while another process has the cache."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigurationError(f"--against: another run uses {cache}; wait for its end") from None
        yield


def _remove(root: Path, folder: Path) -> None:
    """Removes the worktree, whatever its state: `--force` twice includes one that is half made."""
    _git(root, "worktree", "remove", "--force", "--force", str(folder))
    shutil.rmtree(folder, ignore_errors=True)
