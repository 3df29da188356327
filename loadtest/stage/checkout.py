"""Checks out another commit of this repository for one run, with a virtual environment from the commit's lock file."""

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

# The environment gets the packages in the first of these files that the commit has. Older commits have other files.
LOCKS = ("locks/app.lock", "requirements.lock", "requirements-loadtest.lock")


class Checkout(NamedTuple):
    """A commit that is checked out. `commit`: the short hash. `folder`: the worktree. `python`: the interpreter."""

    commit: str
    folder: Path
    python: Path


@contextmanager
def checkout(commit: str, root: Path = ROOT) -> Iterator[Checkout]:
    """Checks `commit` out in `.run/against`, and removes the worktree at the end. Keeps the virtual environment.

    Raises ConfigurationError if git is missing, if the commit is unknown or has none of LOCKS, or if another run uses
    the folder. Raises CalledProcessError if git or pip fails.
    """
    full = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    if not full:
        raise ConfigurationError(f"--against={commit}: {root} has no such commit")
    cache = root / ".run" / "against"
    folder = cache / "worktree"
    with _alone(cache):
        _remove(root, folder)  # the worktree exists if an earlier run was killed
        try:
            subprocess.run([*_command(root), "worktree", "add", "--quiet", "--detach", folder, full], check=True)
            yield Checkout(full[:7], folder, environments.python(_lock(folder, commit), cache / "environments"))
        finally:
            _remove(root, folder)


def other_python(base: str) -> tuple[Checkout, str]:
    """Returns the present worktree with a virtual environment of the interpreter `base`, and the version of `base`.

    Raises ConfigurationError if `base` is not a Python interpreter, and CalledProcessError if the installation fails.
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
    """Returns git's output, or "" if git fails. Raises ConfigurationError if git is not installed."""
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
    """Locks the folder `cache` until the context ends. Raises ConfigurationError if another process has locked it."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigurationError(f"--against: another run uses {cache}; wait for its end") from None
        yield


def _remove(root: Path, folder: Path) -> None:
    """Removes the worktree. With `--force` twice, git also removes an incomplete worktree."""
    _git(root, "worktree", "remove", "--force", "--force", str(folder))
    shutil.rmtree(folder, ignore_errors=True)
