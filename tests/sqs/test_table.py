"""The table of docs/aws.md, which says what the lean client does instead of botocore."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_row_has_its_tests() -> None:
    """Each row of the table names a test, and each test that it names exists."""
    _, _, rest = (ROOT / "docs" / "aws.md").read_text(encoding="utf-8").partition("## What the lean client does itself")
    rows = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("| ")][1:]
    tests = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    without = []
    for row in rows:
        what, *_, named = row.strip("| ").split(" | ")
        names = re.findall(r"`(test_\w+)`", named)
        assert [name for name in names if f"def {name}(" not in tests] == []
        without += [] if names else [what]
    assert len(rows) == 9
    assert without == []
