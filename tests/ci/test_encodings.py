"""Text files and pipes have an encoding, because the locale's may be another one than UTF-8."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def without_encoding(code: str) -> Iterator[int]:
    """Yields the line of each call without an encoding. ruff's PLW1514 finds few of them, and no pipe."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call):
            options = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            reads = isinstance(node.func, ast.Attribute) and node.func.attr in {"read_text", "write_text"}
            if options.get("text") == "True" or (reads and "encoding" not in options):
                yield node.lineno


def test_every_text_has_an_encoding() -> None:
    """The applications of the doctor's corpus are written as users write."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    files = [name for name in listed.stdout.splitlines() if not name.startswith("tests/doctor/corpus/")]
    found = [f"{name}:{line}" for name in files for line in without_encoding((ROOT / name).read_text(encoding="utf-8"))]
    assert found == []
    assert len(files) > 500


def test_what_is_found() -> None:
    """A file and a pipe without an encoding are found."""
    code = (
        'file.read_text()\nfile.read_text(encoding="utf-8")\nrun(text=True)\nrun(encoding="utf-8")\nfile.write_text("")'
    )
    assert sorted(without_encoding(code)) == [1, 3, 5]
