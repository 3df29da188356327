"""Locks the folder of a local run, so that only one run uses it.

The operating system releases the lock on `local.lock` when the process ends, even after SIGKILL. A process id in the
file could not replace the lock, because the system may give the same id to another process. The file contains the id
only for the error message.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.errors import ConfigurationError


@contextmanager
def lock_run_dir(run_dir: Path) -> Iterator[None]:
    """Locks the folder until the `with` block ends.

    Raises ConfigurationError if another local run has locked the folder, or if this process cannot write in it.
    """
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        file = (run_dir / "local.lock").open("a+", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"APP_LOCAL_RUN_DIR={run_dir}: a local run cannot use this folder: {error}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise ConfigurationError(
                f"APP_LOCAL_RUN_DIR={run_dir}: in use by another local run, process {file.read()}:"
                " stop that process, or name another folder"
            ) from None
        with suppress(OSError):  # a full disk is harmless: only the error message lacks the process id
            file.truncate(0)
            os.write(file.fileno(), str(os.getpid()).encode())
        yield


def is_locked(run_dir: Path) -> bool:
    """Returns whether a local run has locked the folder."""
    try:
        with (run_dir / "local.lock").open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
