"""Prints the results of many attacks: the table, the reasons to doubt the figures, and the failed audits."""

import sys
from pathlib import Path

from loadtest.record.comparison import Comparison


def finish(comparison: Comparison, file: Path, table: str) -> None:
    """Prints `table`, the reasons to doubt its figures, and the name of `file`. Exits with 1 if an audit has failed."""
    print("\n\n".join([table, *doubts(comparison), str(file)]))
    if failed := failed_audits(comparison):
        sys.exit("\n".join(["the audit failed:", *failed]))


def doubts(comparison: Comparison) -> list[str]:
    """Returns [] if no repeat is doubtful. Otherwise, returns one text in a list: a line for each reason to doubt."""
    lines = [
        f"DOUBTFUL: {run.measurement.name}, {run.kind}, repeat {run.repeat + 1}: {doubt}"
        for run in comparison.runs
        if run.measurement.conditions is not None
        for doubt in run.measurement.conditions.doubts
    ]
    return ["\n".join(lines)] if lines else []


def failed_audits(comparison: Comparison) -> list[str]:
    """Returns a line for each run whose audit does not hold."""
    return [
        f"{run.measurement.name}, {run.kind}, repeat {run.repeat + 1}: {audit.model_dump_json()}"
        for run in comparison.runs
        if (audit := run.measurement.audit) is not None and not audit.holds
    ]
