"""`python -m loadtest publish` with two tiny parts: `python -m tests.loadtest.tiny_publish RESULTS DOUBTS SECONDS`.

The first part is DOUBTFUL in its first DOUBTS attempts. The second part takes SECONDS.
"""

import sys
from pathlib import Path
from unittest.mock import patch

from loadtest import publish
from loadtest.record import folders, meta
from loadtest.record.parts import Part


def main(results: str, doubts: str, seconds: str) -> None:
    command = f"tests.loadtest.tiny_part {results}"
    parts = (Part("first", 1, f"{command} first {doubts} 0"), Part("second", 1, f"{command} second 0 {seconds}"))
    with (
        patch.object(folders, "RESULTS", Path(results)),
        patch.object(meta, "commit", lambda: "abcdef0"),
        patch.object(publish, "PARTS", parts),
        patch.object(publish, "NAMES", tuple(part.name for part in parts)),
        patch.object(publish, "_require", lambda commit, *, idle: None),
    ):
        publish.main([])


if __name__ == "__main__":
    main(*sys.argv[1:])
