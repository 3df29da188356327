"""Creates a Postgres cluster, and runs its server inside a context."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from app.errors import ConfigurationError
from lab.stand_ins.postgres_programs import privileges, programs
from local.ports import free_port

USER = "lab"
_STOP = 5.0  # _STOP and _START are in seconds
_START = 60.0
_PORTS = 5  # number of ports to try, because another process can take a free port before Postgres listens on it
# The data need not survive a crash, and Postgres' background work must not disturb the measurements.
_OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "500",
    "shared_buffers": "256MB",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "4GB",
    "autovacuum": "off",
}
_PR_SET_PDEATHSIG = 1


@contextmanager
def running(folder: Path, password: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """Creates a cluster in `folder`, and runs its server inside the context. Yields the server's process and port.

    The context begins when the server accepts connections. Raises ConfigurationError if Postgres' programs are missing
    or fail, or if the server does not accept connections within _START seconds.
    """
    found, passwords = programs(folder), folder / "password"
    passwords.write_text(password, encoding="utf-8")
    rights: dict[str, Any] = {"cwd": folder, "env": {"LC_ALL": "C", "PATH": os.defpath}} | privileges(folder)
    _initialise(found, folder, passwords, rights)
    passwords.unlink()
    for _ in range(_PORTS):
        port = free_port()
        process = _started(found, folder, port, rights)
        try:
            if _accepts(process, folder):
                yield process, port
                return
        finally:
            _end(process)
        if "Address already in use" not in _log(folder).read_text(encoding="utf-8"):
            break
    said = "\n".join(_log(folder).read_text(encoding="utf-8").splitlines()[-5:])
    raise ConfigurationError(said or f"Postgres did not accept connections within {_START:g} s")


def _initialise(found: Path, folder: Path, passwords: Path, rights: dict[str, Any]) -> None:
    arguments = ["--username", USER, "--pwfile", str(passwords), "--auth", "scram-sha-256", "--no-sync"]
    command = [str(found / "initdb"), *arguments, "--encoding", "UTF8", "--locale", "C", "-D", str(folder / "data")]
    try:
        subprocess.run(
            command,
            **rights,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=_START,
        )
    except subprocess.CalledProcessError as error:
        raise ConfigurationError(error.stderr.strip() or str(error)) from None
    except subprocess.TimeoutExpired:
        raise ConfigurationError(f"initdb did not end within {_START:g} s") from None


def _started(found: Path, folder: Path, port: int, rights: dict[str, Any]) -> "subprocess.Popen[bytes]":
    options = [argument for name, value in _OPTIONS.items() for argument in ("-c", f"{name}={value}")]
    with _log(folder).open("wb") as log:
        return subprocess.Popen(
            [found / "postgres", "-D", folder / "data", "-p", str(port), *options],
            **rights,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=_end_with_this,  # noqa: PLW1509  # no thread of this process holds a lock that it needs
        )


def _end_with_this() -> None:
    """Makes the kernel end the server when the server's parent process ends, even by SIGKILL. Works only on Linux.

    If SIGKILL ends the parent, the parent cannot remove the folder. `lab.stand_ins.postgres.start` then removes it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)


def _accepts(process: "subprocess.Popen[bytes]", folder: Path) -> bool:
    """Waits, as pg_ctl does, until the last line of postmaster.pid is `ready`, and returns True.

    Returns False if the server has ended, or is not ready within _START seconds.
    """
    deadline = time.monotonic() + _START
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(FileNotFoundError):
            if (folder / "data/postmaster.pid").read_text(encoding="utf-8").split()[-1:] == ["ready"]:
                return True
        time.sleep(0.02)
    return False


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends all of the server's processes by an immediate shutdown.

    Kills the server's main process if it still runs after _STOP seconds.
    """
    process.send_signal(signal.SIGQUIT)
    try:
        process.wait(_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _log(folder: Path) -> Path:
    return folder / "log"
