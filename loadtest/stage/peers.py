"""The peers as subjects: see `loadtest.peers`."""

import subprocess
import sys

from loadtest.record.folders import ROOT
from loadtest.stage import tools
from loadtest.stage.subject import AttackSubject

SOURCES = ROOT / "loadtest" / "peers" / "go"


def floor() -> AttackSubject:
    """uvicorn alone, which only reads the body and responds."""
    return AttackSubject("asgi_noop", [sys.executable, "-m", "loadtest.peers.asgi_noop"], enqueues=False)


def do_nothing(**flags: str) -> AttackSubject:
    """A FastAPI service that does nothing in a thread, with `flags`."""
    return AttackSubject("do_nothing", [sys.executable, "-m", "loadtest.peers.do_nothing"], flags, enqueues=False)


def peers() -> list[AttackSubject]:
    """The floor, and the peers in Go if Go can build them. Raises CalledProcessError if they do not compile."""
    go = tools.go()
    if go is None:
        print("go is not on PATH, and cannot be installed: the peers in Go are omitted", file=sys.stderr)
        return [floor()]
    for binary, package in {"peer": ".", "lean": "./lean"}.items():
        subprocess.run([go, "build", "-o", f"bin/{binary}", package], cwd=SOURCES, check=True)
    peer, lean = (str(SOURCES / "bin" / binary) for binary in ("peer", "lean"))
    in_go = {"go": [peer], "go_group_commit": [peer, "-group-commit"], "go_lean": [lean]}
    return [floor(), *(AttackSubject(name, command) for name, command in in_go.items())]
