"""CI names files that exist: pytest runs nothing, without an error, if one of its paths is missing."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_paths_of_tests() -> None:
    """A test that is renamed has to be renamed in .ci/run, too."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    paths = re.findall(r"tests/[\w/{},]+\.py", script)
    named = [
        start + name + end
        for start, names, end in (re.fullmatch(r"([^{]*)(?:\{(.*)\})?(.*)", path).groups() for path in paths)  # type: ignore[union-attr]
        for name in (names or "").split(",")
    ]
    assert len(named) > len(paths) > 1
    assert [name for name in named if not (ROOT / name).is_file()] == []
