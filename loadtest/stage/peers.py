"""The peers as subjects: see `loadtest.peers`."""

import shutil
import subprocess
import sys

from loadtest.record.folders import ROOT
from loadtest.stage.subject import Subject

GO = ROOT / "loadtest" / "peers" / "go"


def floor() -> Subject:
    """The same server, which only reads the body and responds."""
    return Subject("asgi_noop", [sys.executable, "-m", "loadtest.peers.asgi_noop"], enqueues=False)


def peers() -> list[Subject]:
    """The floor, and the peer in Go if Go is installed to build it. Raises CalledProcessError."""
    if shutil.which("go") is None:
        print("go is not on PATH: the peer in Go is omitted", file=sys.stderr)
        return [floor()]
    subprocess.run(["go", "build", "-o", "bin/peer", "."], cwd=GO, check=True)
    peer = str(GO / "bin" / "peer")
    return [floor(), Subject("go", [peer]), Subject("go_group_commit", [peer, "-group-commit"])]
