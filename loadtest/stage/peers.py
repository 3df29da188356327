"""The peers as subjects: see `loadtest.peers`."""

import shutil
import subprocess
import sys

from loadtest.record.folders import ROOT
from loadtest.stage.subject import AttackSubject

GO = ROOT / "loadtest" / "peers" / "go"


def floor() -> AttackSubject:
    """The same server, which only reads the body and responds."""
    return AttackSubject("asgi_noop", [sys.executable, "-m", "loadtest.peers.asgi_noop"], enqueues=False)


def do_nothing(**flags: str) -> AttackSubject:
    """A FastAPI service that does nothing in a thread, with `flags`."""
    return AttackSubject("do_nothing", [sys.executable, "-m", "loadtest.peers.do_nothing"], flags, enqueues=False)


def peers() -> list[AttackSubject]:
    """The floor, and the peers in Go if Go is installed to build them. Raises CalledProcessError."""
    if shutil.which("go") is None:
        print("go is not on PATH: the peers in Go are omitted", file=sys.stderr)
        return [floor()]
    for binary, package in {"peer": ".", "lean": "./lean"}.items():
        subprocess.run(["go", "build", "-o", f"bin/{binary}", package], cwd=GO, check=True)
    peer, lean = (str(GO / "bin" / binary) for binary in ("peer", "lean"))
    in_go = {"go": [peer], "go_group_commit": [peer, "-group-commit"], "go_lean": [lean]}
    return [floor(), *(AttackSubject(name, command) for name, command in in_go.items())]
