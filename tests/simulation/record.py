"""Stores the simulation's printed tables in docs/simulation, and computes their sums for docs/simulation.md.

python -m tests.simulation | python -m tests.simulation.record schedules
python -m tests.simulation --mutants | python -m tests.simulation.record mutants
python -m tests.simulation.webhooks | python -m tests.simulation.record webhooks
python -m tests.simulation.connections | python -m tests.simulation.record connections

A table replaces the stored table of the same name, and each row gets the current commit.
"""

import csv
import sys
from collections.abc import Iterable
from pathlib import Path

from loadtest.record.meta import commit
from loadtest.report.cells import markdown
from tests.simulation.mutants import CONNECTION, PATH

FOLDER = Path(__file__).parents[2] / "docs" / "simulation"
NAMES = ("schedules", "mutants", "webhooks", "connections")
SURVIVES = "**survives**"
# In place of a commit that is not in the history any more: nobody could check it out.
EARLIER = "an earlier commit"
Row = dict[str, str]


def rows(lines: Iterable[str]) -> list[Row]:
    """Returns the rows of the first Markdown table in `lines`. Raises ValueError if there is none."""
    table = [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in lines if line.startswith("| ")]
    if len(table) < 2:  # the head and a row
        raise ValueError("the input has no table with a row: pipe the simulation's output into this command")
    head, *rest = table
    return [dict(zip(head, row, strict=True)) for row in rest]


def write(name: str, found: list[Row]) -> None:
    """Replaces the table of that name."""
    with (FOLDER / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


def read(name: str) -> list[Row]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def slow_mutants(runs: int) -> set[str]:
    """Returns the names of the mutants whose recorded hunt took more than `runs` runs."""
    return {row["mutant"] for row in read("mutants") if _number(row["after runs"]) > runs}


def searched() -> str:
    """Returns a Markdown table: the schedules, runs, violations and commits of each search."""
    worker = [row for row in read("schedules") if row["actions"]]  # without the last row, which has the sums
    parts = {
        "the worker, without an actor": [row for row in worker if row["actions"] == "0"],
        "the worker, with an actor": [row for row in worker if row["actions"] != "0"],
        PATH: read("webhooks"),
        CONNECTION: read("connections"),
    }
    head = ["", "schedules", "runs", "violations", "commit"]
    shown = [[name, *(_sum(of, figure) for figure in head[1:-1]), _commits(of)] for name, of in parts.items()]
    return markdown(head, shown)


def hunted() -> str:
    """Returns a sentence: how many planted faults were found, by the search that hunted them."""
    parts: dict[str, list[Row]] = {"the worker": [], PATH: [], CONNECTION: []}
    found = read("mutants")
    for row in found:
        parts.get(row["found by"], parts["the worker"]).append(row)
    counted = [
        f"{sum(row['violation'] != SURVIVES for row in of)} of {len(of)} of {name}" for name, of in parts.items()
    ]
    return f"Found on {_commits(found)}: {', '.join(counted)}."


def _sum(found: list[Row], figure: str) -> str:
    values = [_number(row[figure]) for row in found if row.get(figure)]
    return f"{sum(values):,}" if values else "–"


def _number(figure: str) -> int:
    return int(figure.replace(",", ""))


def _commits(found: list[Row]) -> str:
    names = dict.fromkeys(row["commit"] for row in found)
    return ", ".join(name if name == EARLIER else f"`{name}`" for name in names)


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] not in NAMES:  # the command and a name
        sys.exit(f"usage: python -m tests.simulation.record {' | '.join(NAMES)}")
    now = commit(of_tests=True)
    write(sys.argv[1], [row | {"commit": now} for row in rows(sys.stdin)])


if __name__ == "__main__":
    main()
