"""Writes figures into the prose of documents. A figure is a number, followed by a comment with its source.

    PYTHONPATH=.ci python -m figures [--check] FILE …

In `48<!--= .0f 100 - calibrated("v02", "success") -->`, the comment has a format and an expression, which may use the
names of `loadtest.report.numbers` and `lab.report.lab_numbers`. With --check, fails if a number in the text differs
from the value of its expression.
"""

import re
import sys
from pathlib import Path

from lab.report import lab_numbers
from loadtest.report import numbers

FIGURE = re.compile(r"(\d[\d,.]*)(<!--= (\S+) (.+?) -->)", re.DOTALL)
NAMES = {name: getattr(module, name) for module in (numbers, lab_numbers) for name in module.__all__}


def written(text: str) -> str:
    """Returns the text with all figures computed again. Raises the error of an expression that fails."""
    return FIGURE.sub(lambda found: f"{_figure(found[3], found[4])}{found[2]}", text)


def _figure(form: str, expression: str) -> str:
    return format(eval(expression, NAMES), form)  # noqa: S307  # the expressions are in this project's documents


def main(names: list[str]) -> None:
    check = "--check" in names
    for file in map(Path, (name for name in names if name != "--check")):
        text = file.read_text(encoding="utf-8")
        if text == (fresh := written(text)):
            continue
        if check:
            stale = [old for old, new in zip(text.splitlines(), fresh.splitlines(), strict=True) if old != new]
            sys.exit("\n".join([f"{file}: stale figures, run `make docs`:", *stale]))
        file.write_text(fresh, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
