"""The simulation's tables: read from its output, stored in docs/simulation, and summed up in docs/simulation.md."""

import re
from pathlib import Path

import pytest

from tests.simulation import record
from tests.simulation.mutants import PATH

SEARCHED = """\
| scenario | preemptions | faults | actions | schedules | crash points | runs | states | seconds | violations |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
| poison | 1 | 1 | 0 | 3,718 | 204 | 3,562 | 1,949 | 9 | 0 |
| one event, delivered once | 0 | 0 | 1 | 551 | 549 | 69 | 10 | 1 | 2 |

one event, delivered once: a violation
W1 receive_message

| **together** |  |  |  | 4,269 | 753 | 3,631 | 1,959 | 10 | 2 |
"""
MUTANTS = f"""\
| mutant | file | found by | after runs | violation |
|---|---|---|---:|---|
| a fault | `billing/claims.py` | poison | 2 | inv_0 charges usage again |
| another one | `web/callbacks.py` | {PATH} | 1 | a webhook got 200 |
| a third one | `web/callbacks.py` | {PATH} | 9 | **survives** |

3 mutants, 1 survive
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tables of the repository, in a folder that a test may change."""
    for name in record.NAMES:
        found = record.read(name)
        monkeypatch.setattr(record, "FOLDER", tmp_path)
        record.write(name, found)
        monkeypatch.undo()
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    return tmp_path


def test_what_was_printed_is_kept(folder: Path) -> None:
    """The table keeps all rows of the output. The sums leave out the row that already contains sums."""
    record.write("schedules", [row | {"commit": "abcdef0"} for row in record.rows(SEARCHED.splitlines())])
    assert [row["scenario"] for row in record.read("schedules")] == [
        "poison",
        "one event, delivered once",
        "**together**",
    ]
    table = record.searched()
    assert "| the worker, without an actor | 3,718 | 3,562 | 0 | `abcdef0` |" in table
    assert "| the worker, with an actor | 551 | 69 | 2 | `abcdef0` |" in table


def test_a_mutant_that_survives_is_not_found(folder: Path) -> None:
    """The sentence counts the planted faults, and the faults that were found."""
    record.write("mutants", [row | {"commit": "abcdef0"} for row in record.rows(MUTANTS.splitlines())])
    assert record.hunted().startswith(f"Found on `abcdef0`: 1 of 1 of the worker, 1 of 2 of {PATH}, ")


def test_no_table_replaces_nothing() -> None:
    """`rows` rejects the output of a command that has failed."""
    with pytest.raises(ValueError, match="no table"):
        record.rows(["Error: No such option", "| scenario | runs |", "|---|---:|"])


def test_mutants_that_are_found_late(folder: Path) -> None:
    record.write("mutants", [row | {"commit": "abcdef0"} for row in record.rows(MUTANTS.splitlines())])
    assert record.slow_mutants(2) == {"a third one"}
    assert record.slow_mutants(9) == set()


@pytest.mark.parametrize("name", record.NAMES)
def test_a_stored_table_names_no_path_of_a_machine(name: str) -> None:
    text = (record.FOLDER / f"{name}.csv").read_text(encoding="utf-8")
    assert re.findall(r"(?<![\w.])/\w+/\S+", text) == []
