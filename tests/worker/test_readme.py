"""The worker's README names tests that are there."""

import re
from pathlib import Path

HERE = Path(__file__).parent
README = (HERE.parents[1] / "app" / "worker" / "README.md").read_text(encoding="utf-8")


def test_each_test_that_it_names_is_there() -> None:
    sources = "".join(file.read_text(encoding="utf-8") for file in HERE.glob("test_*.py"))
    for name in re.findall(r"`(test_\w+)`", README):
        assert f"def {name}(" in sources, name
    for name in re.findall(r"`(test_\w+\.py)`", README):
        assert (HERE / name).exists(), name
