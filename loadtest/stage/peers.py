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


def peers() -> list[AttackSubject]:
    """The floor, and the peer in Go if Go is installed to build it. Raises CalledProcessError."""
    if shutil.which("go") is None:
        print("go is not on PATH: the peer in Go is omitted", file=sys.stderr)
        return [floor()]
    subprocess.run(["go", "build", "-o", "bin/peer", "."], cwd=GO, check=True)
    peer = str(GO / "bin" / "peer")
    return [floor(), AttackSubject("go", [peer]), AttackSubject("go_group_commit", [peer, "-group-commit"])]
