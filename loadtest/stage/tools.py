"""Finds Go and the Go programs vegeta and toxiproxy-server. Builds the programs once if they are not on PATH."""

import os
import shutil
import subprocess
from functools import cache

from app.errors import ConfigurationError
from loadtest.record.folders import ROOT

BIN = ROOT / "loadtest" / "tools" / "bin"
_GO = ROOT / ".ci" / "go"


def provide(*tools: str) -> None:
    """Appends loadtest/tools/bin to PATH. Builds the `tools` that are not on PATH, and puts them into this folder.

    Raises ConfigurationError if a tool cannot be built.
    """
    if str(BIN) not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] += f"{os.pathsep}{BIN}"
    for tool in tools:
        if shutil.which(tool) is None:
            target = (BIN / tool).relative_to(ROOT)
            built = subprocess.run(["make", "--silent", str(target)], cwd=ROOT, check=False)
            if built.returncode != 0:
                raise ConfigurationError(f"{tool} is not on PATH, and `make {target}` fails: see its error above")


@cache
def go() -> str | None:
    """Returns the command that runs Go, or None if Go does not run.

    In a checkout, the command is `.ci/go`, which installs Go unless a new enough Go is on PATH. In the load test's
    image, the command is `go`, because the image does not contain `.ci`.
    """
    command = str(_GO) if _GO.exists() else "go"
    try:
        ran = subprocess.run([command, "version"], stdout=subprocess.DEVNULL, check=False)
    except OSError:
        return None
    return command if ran.returncode == 0 else None
