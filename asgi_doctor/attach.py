"""`asgi-doctor attach`: uses `sys.remote_exec` of Python 3.14 to watch a process that is already running.

The command makes a folder with a script and the doctor's bytecode. The process runs the script in its main thread. The
script starts a thread, which watches the loops (attached.py) and writes messages into the folder. The bytecode is a
package with a new name, because the process may have imported another version of the doctor.

https://peps.python.org/pep-0768/, https://docs.python.org/3.14/howto/remote_debugging.html
"""

import json
import os
import py_compile
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from asgi_doctor.errors import DoctorError
from asgi_doctor.finding import Cure, Finding, Kind
from asgi_doctor.session import Result

# Seconds to wait for the process to run the script, which it does when its main thread next runs Python code.
PATIENCE = 10.0
_INTERVAL = 0.05
_PROC = Path("/proc/self/root")
_SILENT = f"its main thread has run no Python code for {PATIENCE:g} s; it is idle (send a request) or stuck in C code"
_SCRIPT = """\
import sys, threading

def watch(main):
    import importlib.util, json
    folder, name = {folder!r}, {name!r}
    try:
        path = folder + "/" + name
        spec = importlib.util.spec_from_file_location(name, path + "/__init__.pyc", submodule_search_locations=[path])
        sys.modules[name] = importlib.util.module_from_spec(spec)
        importlib.import_module(name + ".attached").watch(folder, main, {warn!r}, {seconds!r})
    except BaseException as error:
        with open(folder + "/found", "a", encoding="utf-8") as file:
            file.write(json.dumps(["failed", repr(error)]) + "\\n")

running = getattr(sys.modules.get("asyncio"), "_get_running_loop", lambda: None)
threading.Thread(target=watch, args=(running(),), name="asgi-doctor", daemon=True).start()
"""


def run(pid: int, warn: float, seconds: float, say: Callable[[str], None]) -> Result:
    """Watches the process for `seconds`, or until Ctrl-C. Raises DoctorError if the process cannot be watched."""
    if not hasattr(sys, "remote_exec"):
        version = sys.version.split()[0]
        raise DoctorError(f"attach needs Python 3.14 or newer, here and in the process; this is {version}")
    with _folder(pid) as (folder, inside):
        _fill(folder, inside, warn, seconds)
        _own(folder, pid)
        _execute(pid, f"{inside}/script.py")
        return Result(_read(pid, folder, seconds, say), f"process {pid}")


@contextmanager
def _folder(pid: int) -> Iterator[tuple[Path, str]]:
    """Makes a folder. Yields its path in this process and its path in process `pid`, which may be in a container."""
    root = Path(f"/proc/{pid}/root") if _PROC.exists() else Path("/")
    # In a container with a read-only root, only /dev/shm is writable. S108 is ignored: mkdtemp makes a private folder.
    for place in (os.environ.get("TMPDIR", "/tmp"), "/tmp", "/dev/shm"):  # noqa: S108
        with suppress(OSError):
            made = Path(tempfile.mkdtemp(prefix="asgi-doctor-", dir=root / place.lstrip("/")))
            break
    else:
        why = _why_not(pid) or "it shares no writable folder with this process: mount one at /tmp"
        raise DoctorError(f"process {pid}: {why}")
    try:
        yield made, f"/{made.relative_to(root)}"
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _fill(folder: Path, inside: str, warn: float, seconds: float) -> None:
    """Writes the script, and the doctor's bytecode as a package. `inside`: the folder's path in the watched process."""
    name = folder.name.replace("-", "_")
    package = folder / name
    package.mkdir()
    for file in Path(__file__).parent.glob("*.py"):
        source = package / file.name
        code = re.sub(r"\b(from|import) asgi_doctor\b", rf"\1 {name}", file.read_text(encoding="utf-8"))
        source.write_text(code, encoding="utf-8")
        py_compile.compile(str(source), f"{source}c", f"{inside}/{name}/{file.name}", doraise=True)
        source.unlink()
    script = _SCRIPT.format(folder=inside, name=name, warn=warn, seconds=seconds)
    (folder / "script.py").write_text(script, encoding="utf-8")
    (folder / "found").touch()


def _own(folder: Path, pid: int) -> None:
    """If root runs this command, makes the user of process `pid` the owner of the folder and its files."""
    if _PROC.exists() and os.geteuid() == 0:
        owner = Path(f"/proc/{pid}").stat()
        for path in (folder, *folder.rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid)


def _execute(pid: int, script: str) -> None:
    try:
        sys.remote_exec(pid, script)  # type: ignore[attr-defined,unused-ignore]  # in Python 3.14
    except (OSError, RuntimeError) as error:
        wanted = f"it needs Python {sys.version_info[0]}.{sys.version_info[1]} without PYTHON_DISABLE_REMOTE_DEBUG"
        raise DoctorError(f"process {pid}: {_why_not(pid) or f'{error} ({wanted})'}") from None


def _read(pid: int, folder: Path, seconds: float, say: Callable[[str], None]) -> list[Finding]:
    """Passes the messages of the process to `say`. Returns the last message, the findings.

    Raises DoctorError if the process ends early, cannot be watched, or does not write the findings in time.
    """
    line, latest = "", time.monotonic() + PATIENCE
    with (folder / "found").open(encoding="utf-8") as file:
        while time.monotonic() < latest and _runs(pid):
            try:
                line += file.readline()
                if not line.endswith("\n"):
                    time.sleep(_INTERVAL)
                    continue
                (kind, value), line = json.loads(line), ""
                if kind == "findings":
                    return [_finding(one) for one in value]
                if kind == "failed":
                    raise DoctorError(f"process {pid}: {value}{_children(pid)}")
                latest += seconds if kind == "watches" else 0
                say(value + (_children(pid) if kind == "watches" else ""))
            except KeyboardInterrupt:
                (folder / "script.py").unlink(missing_ok=True)  # makes the process stop watching and write its findings
    if not _runs(pid):
        raise DoctorError(f"process {pid} has ended")
    _execute(pid, os.devnull)  # replaces the script; otherwise, the process would later look for a deleted file
    raise DoctorError(f"process {pid}: {_SILENT}")


def _finding(fields: dict[str, Any]) -> Finding:
    tuples = {name: tuple(fields[name]) for name in ("chain", "libraries")}
    return Finding(**fields | tuples | {"kind": Kind(fields["kind"]), "cure": Cure(**fields["cure"])})


def _runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists() or not _PROC.exists()


def _why_not(pid: int) -> str:
    """Returns the reason why the doctor cannot attach to the process, or "" if this function finds none."""
    process, scope = Path(f"/proc/{pid}"), Path("/proc/sys/kernel/yama/ptrace_scope")
    if not _runs(pid):
        return "there is no such process"
    if process.exists() and os.geteuid() not in {0, process.stat().st_uid}:
        return f"it belongs to user {process.stat().st_uid}: attach as this user, or as root"
    if scope.exists() and scope.read_text(encoding="utf-8").strip() != "0" and os.geteuid() != 0:
        return f"{scope} forbids debuggers: attach as root; in a container, it needs the capability SYS_PTRACE"
    return ""


def _children(pid: int) -> str:
    """Returns the ids of child processes (such as workers), as text to append to a message, or "" if there are none."""
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
        return f"; its child processes are {', '.join(children)}" if children else ""
    return ""
