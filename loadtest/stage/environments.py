"""Makes a virtual environment from a lock file, and keeps it for the next call with the same lock file."""

import os
import shutil
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from loadtest.record.folders import ROOT

INSTALL = ROOT / ".ci" / "install.py"
SIZES = {
    "app.lock": "135 MB",
    "dev.lock": "1,125 MB",
    # Older commits, without the folder `locks`, have these files:
    "requirements.lock": "135 MB",
    "requirements-loadtest.lock": "285 MB",
}
KEPT = 3
INSTALLED = "installed"  # a file in each complete environment; its modification time is the time of the last use


def python(lock: Path, folder: Path, base: str = sys.executable) -> Path:
    """Returns the interpreter of the environment for `lock`. Creates the environment if it is missing.

    `base`: the interpreter that creates the environment. `folder`: the folder of all environments. At the end,
    at most KEPT environments remain: those that were used last. Raises CalledProcessError if `base` or pip fails.
    """
    asked = [base, "-c", "import sys; print(sys.version, sys.base_prefix, end='')"]
    interpreter = subprocess.run(asked, check=True, capture_output=True).stdout
    # The environment's name depends on all lock files in the folder, because `lock` may include other lock files.
    texts = [file.read_bytes() for file in sorted(lock.parent.glob("*.lock"))]
    made = folder / sha256(b"".join([interpreter, lock.name.encode(), *texts])).hexdigest()[:12]
    if not (made / INSTALLED).exists():
        _make(made, lock, base)
    (made / INSTALLED).touch()
    _prune(folder)
    return made / "bin" / "python"


def _make(made: Path, lock: Path, base: str) -> None:
    """Makes the environment and installs the packages of `lock`. Removes the environment if this fails."""
    try:
        _run(base, "-m", "venv", "--clear", str(made))
        _run(str(made / "bin" / "python"), str(INSTALL), str(lock), SIZES[lock.name])
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _run(*command: str) -> None:
    """Runs the command in a new session. After Ctrl-C, kills the command and its child processes, such as pip."""
    with subprocess.Popen(command, stdout=sys.stderr, start_new_session=True) as process:
        try:
            code = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if code:
        raise subprocess.CalledProcessError(code, command)


def _prune(folder: Path) -> None:
    """Removes incomplete environments. Of the complete ones, keeps at most KEPT: those that were used last."""
    complete = sorted(folder.glob(f"*/{INSTALLED}"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    kept = {file.parent for file in complete[:KEPT]}
    for made in folder.iterdir():
        if made not in kept:
            shutil.rmtree(made, ignore_errors=True)
