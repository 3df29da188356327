"""Counts the instructions of a part of a Python program, with valgrind's tool callgrind."""

import ctypes
import mmap
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import ConfigurationError

# _REQUEST is machine code that valgrind recognises as a request. It has no effect without valgrind. It is the macro
# VALGRIND_DO_CLIENT_REQUEST_EXPR of valgrind.h for x86-64, as a function that takes the address of six integers.
# https://valgrind.org/docs/manual/manual-core-adv.html#manual-core-adv.clientreq
_MACHINE = "x86_64"
_REQUEST = bytes.fromhex("4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3")
# OpenSSL computes SHA-256 in this function, which is not counted. Processors have special instructions for SHA-256, but
# valgrind does not support them. If counted, SHA-256 would be a fifth of v10's count, although it is 2 % of v10's time.
_UNCOUNTED = "EVP_DigestUpdate"
# callgrind.h: CALLGRIND_START_INSTRUMENTATION and CALLGRIND_STOP_INSTRUMENTATION.
_START, _STOP = 0x43540004, 0x43540005
_TOTALS = re.compile(r"^totals: (\d+)$", re.MULTILINE)


@contextmanager
def counting() -> Iterator[None]:
    """Counts the instructions of the `with` block, if this process runs under callgrind: see `command`."""
    with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as memory:
        memory.write(_REQUEST)
        code = ctypes.c_char.from_buffer(memory)
        request = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(ctypes.addressof(code))
        start, stop = ((ctypes.c_uint64 * 6)(number) for number in (_START, _STOP))
        request(start)
        try:
            yield
        finally:
            request(stop)
            del code  # because `memory` cannot be closed while `code` refers to it


def require_callgrind() -> None:
    """Raises ConfigurationError if this machine is not an x86-64, or if valgrind is not on PATH."""
    if platform.machine() != _MACHINE:
        raise ConfigurationError(
            f"instructions can be counted on {_MACHINE} only; this machine is {platform.machine()}"
        )
    if shutil.which("valgrind") is None:
        raise ConfigurationError("valgrind is not on PATH; on Debian: apt install valgrind")


def command(counted: list[str], out: Path) -> list[str]:
    """Returns the command that runs `counted` under callgrind. callgrind writes its result to `out`."""
    part = ["--instr-atstart=no", f"--toggle-collect={_UNCOUNTED}", "--collect-atstart=yes"]
    return [*_fixed_addresses(), "valgrind", "--tool=callgrind", *part, f"--callgrind-out-file={out}", *counted]


def _fixed_addresses() -> list[str]:
    """Returns a command prefix that switches off address randomisation, or [] if setarch is missing or forbidden."""
    setarch = ["setarch", "--addr-no-randomize"]
    try:
        allowed = subprocess.run([*setarch, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        allowed = False
    return setarch if allowed else []


def instructions(out: Path) -> int:
    """Returns the number of instructions in callgrind's result `out`. Raises ValueError if nothing was counted."""
    found = _TOTALS.findall(out.read_text(encoding="utf-8"))
    if len(found) != 1 or int(found[0]) == 0:
        raise ValueError(f"callgrind has counted nothing in {out}")
    return int(found[0])
