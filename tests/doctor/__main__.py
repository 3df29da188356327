"""Measures the doctor on the corpus: `python -m tests.doctor --help`."""

import argparse
import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.doctor import record, table
from tests.doctor.case import HALVES, Case, cases
from tests.doctor.judge import Reported, Verdict, judge
from tests.doctor.record import Run
from tests.doctor.run import Failed
from tests.doctor.stand_ins import stand_ins
from tests.doctor.tools import TOOLS

LOOPS = ("asyncio", "uvloop")
NOTHING = Verdict(False, False, False, False, False, 0)


def main() -> None:
    options = _options()
    if not options.table:
        with stand_ins() as variables, _spinning(2 if options.busy else 0):
            _measure(options, variables)
    runs = [run for run in record.merge(record.read(options.record)) if options.only in run.case]
    for line in [*table.misses(runs), "", *table.table(runs)]:
        _say(line)


def _measure(options: argparse.Namespace, variables: dict[str, str]) -> None:
    done = {run.key for run in record.read(options.record) if not run.error}
    wanted = cases(tuple(options.half), options.only)
    runs = list(itertools.product(range(1, options.repeats + 1), wanted, options.tool, options.loop))
    for at, (number, case, tool, loop) in enumerate(runs, 1):
        if (case.half, case.name, tool, loop, options.busy, number) in done:
            continue
        run = _run(case, tool, loop, variables, busy=options.busy, number=number)
        record.append(options.record, run)
        _say(f"{at} of {len(runs)}: {case.half}/{case.name} {tool} {loop}: {', '.join(table.misses([run])) or 'right'}")


def _run(case: Case, tool: str, loop: str, variables: dict[str, str], *, busy: bool, number: int) -> Run:
    verdict, error, reported = NOTHING, "", list[Reported]()
    try:
        reported = TOOLS[tool](case, loop, variables)
        verdict = judge(case, reported)
    except Failed as failed:
        error = str(failed) or "failed"
    return Run(case.name, case.half, case.kind, tool, loop, busy, number, verdict, error, tuple(map(str, reported)))


@contextmanager
def _spinning(number: int) -> Iterator[None]:
    """Keeps `number` cores busy."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.doctor", description=__doc__)
    add = parser.add_argument
    add("--tool", nargs="+", choices=list(TOOLS), default=["doctor"], help="default: doctor")
    add("--loop", nargs="+", choices=LOOPS, default=list(LOOPS), help="default: both")
    add("--half", nargs="+", choices=HALVES, default=list(HALVES), help="default: both")
    add("--only", default="", help="cases whose names contain this")
    add("--repeats", type=int, default=3, help="runs of each case and loop (default: %(default)s)")
    add("--busy", action="store_true", help="keep two cores busy meanwhile")
    add("--record", type=Path, default=Path(".run/doctor.jsonl"), help="runs in this file are not repeated")
    add("--table", action="store_true", help="run nothing, print the record")
    options = parser.parse_args()
    options.record.parent.mkdir(parents=True, exist_ok=True)
    return options


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  # the command's output


if __name__ == "__main__":
    main()
