"""The worker's README names tests and files that are there."""

import re
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "app" / "worker"
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_each_test_that_it_names_is_there() -> None:
    sources = "".join(file.read_text(encoding="utf-8") for file in HERE.glob("test_*.py"))
    for name in re.findall(r"`(test_\w+)`", README):
        assert f"def {name}(" in sources, name
    for name in re.findall(r"`(test_\w+\.py)`", README):
        assert (HERE / name).exists(), name


def test_each_file_has_its_line() -> None:
    [table] = re.findall(r"\| file \| what it does \|\n(.*?)\n\n", README, re.DOTALL)
    named = set(re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines())))
    assert named == {file.stem for file in FOLDER.glob("*.py")} - {"__init__"}
