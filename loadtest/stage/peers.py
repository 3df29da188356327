"""What the releases are compared with, as subjects: see `loadtest.peers`."""

import shutil
import subprocess
import sys

from loadtest.record.folders import ROOT
from loadtest.stage.subject import Subject

GO = ROOT / "loadtest" / "peers" / "go"


def floor() -> Subject:
    """The same server, which reads the body and answers."""
    return Subject("asgi_noop", [sys.executable, "-m", "loadtest.peers.asgi_noop"], enqueues=False)


def peers() -> list[Subject]:
    """The floor, and Go's; Go has to be there to build it. Raises CalledProcessError."""
    if shutil.which("go") is None:
        print("go is not on PATH: its peer is left out", file=sys.stderr)
        return [floor()]
    subprocess.run(["go", "build", "-o", "bin/peer", "."], cwd=GO, check=True)
    return [floor(), Subject("go", [str(GO / "bin" / "peer")])]
