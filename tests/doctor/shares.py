"""Whether each line of a block gets its share: `python -m tests.doctor.shares [--framework fastapi|django]`.

Serves an application in which two or three lines block one after the other, below none to two middlewares, sends it
requests, and compares the seconds of each line with what the line has slept.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

FILE = Path(__file__).with_name("siblings.py")
PLANTED = {"50/50": (0.2, 0.2), "30/70": (0.12, 0.28), "three": (0.14, 0.14, 0.14)}


def measure(framework: str, planted: tuple[float, ...], middlewares: int) -> list[float]:
    """Returns the share of each line in one run. A line that is not found has the share 0."""
    environment = {"SHARES": " ".join(map(str, planted)), "MIDDLEWARES": str(middlewares)}
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "findings.json"
        command = ["-m", "asgi_doctor", "--factory", f"siblings:{framework}", "--no-page", "--port", "0"]
        subprocess.run(
            [sys.executable, *command, "--send", "GET /", "--json", str(written)],
            cwd=FILE.parent,
            env=os.environ | environment | {"PYTHONPATH": str(FILE.parents[2])},
            capture_output=True,
            check=True,
        )
        findings = json.loads(written.read_text(encoding="utf-8"))["findings"]
    lines = FILE.read_text(encoding="utf-8").splitlines()
    marked = [lines.index(next(line for line in lines if f"# line {index}" in line)) + 1 for index in range(3)]
    seconds = [sum(one["seconds"] for one in findings if one["line"] == line) for line in marked[: len(planted)]]
    return [one / sum(found["seconds"] for found in findings) for one in seconds]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.doctor.shares", description=__doc__)
    parser.add_argument("--framework", nargs="+", choices=("fastapi", "django"), default=["fastapi"])
    parser.add_argument("--repeats", type=int, default=10, help="runs of each case (default: %(default)s)")
    options = parser.parse_args()
    for framework, (name, planted), middlewares in product(options.framework, PLANTED.items(), range(3)):
        truth = [one / sum(planted) for one in planted]
        runs = [measure(framework, planted, middlewares) for _ in range(options.repeats)]
        worst = max(abs(one - true) for run in runs for one, true in zip(run, truth, strict=True))
        shown = ", ".join("/".join(f"{one:.0%}" for one in run) for run in runs)
        print(f"{framework} {name}, {middlewares} middlewares: off by {worst:.1%} at most: {shown}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
