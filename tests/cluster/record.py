"""Writes the results to record.json, and their summary as a table into PROOF.md."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cluster import summary
from tests.cluster.summary import Row

RECORD = Path(__file__).parent / "record.json"
PROOF = Path(__file__).parents[2] / "deploy" / "k8s" / "PROOF.md"
_TABLE = re.compile(r"(<!-- recorded -->\n).*?(<!-- end -->)", re.DOTALL)


class Record:
    """The results: a row for each check of a section. A new run of a section replaces only the section's rows."""

    def __init__(self, version: str, machine: str, commit: str) -> None:
        self._where = {"kubernetes": version, "machine": machine, "commit": commit}
        self._rows: list[Row] = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else []

    def begin(self, section: str) -> None:
        self._rows = [row for row in self._rows if row["section"] != section]

    def add(self, section: str, check: str, seen: str, *, holds: bool) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
        row = {"section": section, "check": check, "seen": seen, "holds": "yes" if holds else "NO", "date": now}
        self._rows.append({**row, **self._where})
        print(f"\n  {'ok  ' if holds else 'FAIL'} {check}: {seen}", flush=True)  # printed while make k8s-test runs
        self.write()

    def write(self) -> None:
        RECORD.write_text(json.dumps(self._rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        shown = f"{summary.table(self._rows)}\n\n{summary.where(self._rows)}"
        PROOF.write_text(
            _TABLE.sub(lambda found: f"{found[1]}\n{shown}\n\n{found[2]}", PROOF.read_text(encoding="utf-8")),
            encoding="utf-8",
        )


class See:
    """A test's view of the record: `see(check, figures, holds)`. At its end, a test fails if a check does not hold."""

    def __init__(self, record: Record, section: str) -> None:
        self._record, self._section = record, section
        self.failed: list[str] = []
        record.begin(section)

    def __call__(self, check: str, seen: object, holds: bool) -> None:
        self._record.add(self._section, check, str(seen), holds=holds)
        if not holds:
            self.failed.append(f"{check}: {seen}")

    def end(self) -> None:
        if self.failed:
            pytest.fail("\n".join(self.failed), pytrace=False)
