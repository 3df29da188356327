"""Tests the table of known functions."""

import ast
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from profiles.instruments.functions import FUNCTIONS, Function

ROOTS = [Path(__file__).parents[2], Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("stdlib"))]


def _names(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    """Yields the qualified names of the functions of a module or class."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield prefix + name
            case ast.ClassDef(name=name, body=members):
                yield from _names(members, f"{prefix}{name}.")
            case ast.If(body=first, orelse=second):
                yield from _names([*first, *second], prefix)


@pytest.mark.parametrize("known", FUNCTIONS, ids=lambda known: f"{known.file} {known.name}")
def test_each_function_exists(known: Function) -> None:
    """A function that is renamed or moved has to be renamed in the table, too. An empty name needs only the file."""
    found = [root / known.file for root in ROOTS if (root / known.file).exists()]
    files = [file for path in found for file in (path.glob("*.py") if path.is_dir() else [path])]
    assert files
    names = {name for file in files for name in _names(ast.parse(file.read_text(encoding="utf-8")).body)}
    assert known.name in {"", *names}
    assert {known.stage, known.innermost, known.thread, known.task} != {None}
