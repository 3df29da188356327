"""A measurement that takes no time: `python -m tests.loadtest.tiny_part RESULTS NAME DOUBTS SECONDS`.

The first DOUBTS results are DOUBTFUL. The command waits SECONDS before it writes its result.
"""

import json
import sys
import time
from pathlib import Path

from loadtest.record import meta


def main(results: str, name: str, doubts: str, seconds: str) -> None:
    where = meta.environment().model_copy(update={"commit": "abcdef0"})
    calls = Path(results) / f"{name}.calls"
    with calls.open("a", encoding="utf-8") as file:
        file.write("called\n")
    time.sleep(float(seconds))
    doubtful = len(calls.read_text(encoding="utf-8").splitlines()) <= int(doubts)
    folder = Path(results) / "2026-11-29-abcdef0"
    folder.mkdir(exist_ok=True)
    result = {
        "command": name,
        "environment": where.model_dump(),
        "runs": [{"doubts": ["the processor was slow"] if doubtful else []}],
    }
    (folder / f"{name}.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
