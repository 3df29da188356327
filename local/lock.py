"""The lock that allows one local run per folder.

The operating system releases the lock on `local.lock` when the process ends, even after SIGKILL. A file with a process
id would not be enough, because the system may give the same id to another process.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import ConfigurationError


@contextmanager
def lock_run_dir(run_dir: Path) -> Iterator[None]:
    """Locks the folder inside the context.

    Raises ConfigurationError if another local run has locked the folder, or if this process cannot write in it.
    """
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        file = (run_dir / "local.lock").open("w")
    except OSError as error:
        raise ConfigurationError(f"APP_LOCAL_RUN_DIR={run_dir}: a local run cannot use this folder: {error}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigurationError(
                f"APP_LOCAL_RUN_DIR={run_dir}: in use by another local run; stop it, or name another folder"
            ) from None
        yield


def is_locked(run_dir: Path) -> bool:
    """Returns whether a local run has locked the folder."""
    try:
        with (run_dir / "local.lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
