"""Compares what a tool reports about a case with what is planted."""

import re
from dataclasses import dataclass

from tests.doctor.case import Case

# The words of corpus/README.md, as they are said in a cure.
CURES = {
    "async client": r"AsyncClient|asynchronous|asyncio\.(sleep|create_subprocess|Lock|Queue|Event|open_|wrap_future)",
    "thread": r"to_thread|`def`|in a thread",
    "process": r"process pool",
    "less": r"do less|smaller",
    "once": r"\bonce\b",
    "more threads": r"more threads",
    "garbage": r"gc\.",
    "before serving": r"before serving",
}


@dataclass(frozen=True)
class Reported:
    """One line that a tool reports; what a tool does not say is None."""

    file: str
    line: int | None
    function: str = ""
    kind: str | None = None
    route: str | None = None
    cure: str | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.route} {self.file}:{self.line} in {self.function}"


@dataclass(frozen=True)
class Verdict:
    """`found`: something is reported about the fault. `others`: what is reported about other lines."""

    found: bool
    line: bool
    kind: bool
    route: bool
    cure: bool
    others: int


def judge(case: Case, reported: list[Reported]) -> Verdict:
    """Judges the report that fits best: with a marked line, or with the fault's route if the tool knows routes."""
    best = max(reported, key=lambda one: (_line(case, one), _route(case, one)), default=None)
    if case.kind is None or best is None or not (_line(case, best) or _route(case, best) or best.route is None):
        return Verdict(False, False, False, False, False, len(reported))
    others = sum(not _line(case, one) for one in reported) - (not _line(case, best))
    return Verdict(
        True, _line(case, best), best.kind == case.kind, _route(case, best), cures(case, best.cure or ""), others
    )


def cures(case: Case, text: str) -> bool:
    """Returns whether one of the cures that the case accepts is in the text."""
    return any(re.search(CURES[word], text) for word in case.cures)


def _line(case: Case, one: Reported) -> bool:
    return one.file.endswith(case.file.name) and one.line in case.lines


def _route(case: Case, one: Reported) -> bool:
    """Compares without the converters of Starlette and Litestar: `{year:int}` is `{year}`."""
    return one.route is not None and one.route == re.sub(r":\w+}", "}", case.route or "")
