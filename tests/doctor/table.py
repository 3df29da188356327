"""Prints the tables: each tool, idle and busy, the blind half apart."""

from collections.abc import Iterable, Iterator

from tests.doctor.record import Run

_HEAD = "| tool | loop | half | machine | runs | recall | right line | right kind | right route | right cure | false |"


def table(runs: Iterable[Run]) -> Iterator[str]:
    """Yields a Markdown table. The percentages are of all runs of faulty cases; `false` counts runs of healthy ones."""
    groups: dict[tuple[str, str, str, str], list[Run]] = {}
    for run in runs:
        if not run.error:
            groups.setdefault((run.tool, run.loop, run.half, "busy" if run.busy else "idle"), []).append(run)
    yield _HEAD
    yield "|" + " --- |" * 4 + " ---: |" * 7
    for key in sorted(groups):
        yield _row(key, groups[key])


def misses(runs: Iterable[Run]) -> Iterator[str]:
    """Yields a line for each run that is not perfect, or that failed."""
    for run in runs:
        wrong = [run.error] if run.error else list(_wrong(run))
        if wrong:
            which = f"{run.half}/{run.case} {run.tool} {run.loop} {'busy' if run.busy else 'idle'} {run.number}"
            yield f"{which}: {', '.join(wrong)}: {'; '.join(run.reported)}"


def _row(key: tuple[str, str, str, str], runs: list[Run]) -> str:
    faulty = [run.verdict for run in runs if run.kind is not None]
    healthy = [run for run in runs if run.kind is None]
    names = ("found", "line", "kind", "route", "cure")
    shares = [_share(sum(getattr(verdict, name) for verdict in faulty), len(faulty)) for name in names]
    false = f"{sum(run.verdict.others > 0 for run in healthy)} of {len(healthy)}"
    return f"| {' | '.join([*key, str(len(runs)), *shares, false])} |"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%} ({part}/{whole})" if whole else "–"


def _wrong(run: Run) -> Iterator[str]:
    verdict = run.verdict
    if run.kind is None:
        if verdict.others:
            yield f"{verdict.others} false findings"
    elif not verdict.found:
        yield "not found"
    else:
        yield from (f"wrong {name}" for name in ("line", "kind", "route", "cure") if not getattr(verdict, name))
