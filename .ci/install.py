"""Installs a lock into the environment of this Python, with progress: pip is either silent or too verbose.

python .ci/install.py LOCK SIZE
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# Not on a terminal: a line now and then, so that a log shows progress.
EVERY = 1 if sys.stdout.isatty() else 20


def say(text: str) -> None:
    """One line: on a terminal the next one takes its place."""
    sys.stdout.write(f"\r\033[K  {text}" if sys.stdout.isatty() else f"  {text}\n")
    sys.stdout.flush()


def progress(lines: Iterable[str], total: int) -> Iterator[str]:
    """pip's output, in short."""
    found = 0
    for line in lines:
        if package := re.match(r"(?:Collecting|Requirement already satisfied:|Ignoring) ([\w.-]+)", line):
            found += 1
            if found % EVERY == 0:
                yield f"{found} of {total}: {package[1]}"
        elif line.startswith("Installing collected packages"):
            yield "all are there; unpacking them …"


def main(lock: str, size: str) -> int:
    total = len(re.findall(r"^\S+==", Path(lock).read_text(), re.MULTILINE))
    where = os.path.relpath(sys.prefix)
    sys.stdout.write(f"installing {total} packages ({lock}, some {size}) into {where}, once: a minute or two …\n")
    sys.stdout.flush()  # before what pip writes
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    command += ["--require-hashes", "--requirement", lock]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as pip:
        assert pip.stdout is not None
        for text in progress(pip.stdout, total):
            say(text)
    say("done" if pip.returncode == 0 else "pip failed, see its error above")
    sys.stdout.write("\n" if sys.stdout.isatty() else "")
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
