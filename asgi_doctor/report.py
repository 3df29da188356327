"""Formats findings as lines of text."""

from collections.abc import Callable, Iterable, Iterator

from asgi_doctor.finding import Finding, Kind
from asgi_doctor.stacks import Location, Stack

Explain = Callable[[Finding], Iterable[str]]
# Findings of these kinds are not single blocks above the limit, so `other`, not `blocking`, announces them.
SAID_AT_ONCE = {Kind.STARVES, Kind.MANY_SHORT, Kind.STARTUP}
WHAT = {
    Kind.WAITS: "uses hardly any CPU meanwhile",
    Kind.COMPUTES: "uses the CPU most of the time",
    Kind.BUILDS: "builds what should exist once",
    Kind.STARVES: "keeps the threads of the pool, and calls wait for one",
    Kind.COLLECTS: "collects garbage",
    Kind.MANY_SHORT: "blocks often, each time for less than the limit",
    Kind.STARTUP: "blocks the start",
}


def blocking(location: Location, stack: Stack, seconds: float) -> str:
    """Returns the message that is printed while `location` still blocks the event loop.

    `seconds` is the time for which the loop has been blocked so far.
    """
    called = f" → {stack[-1]}" if stack[-1] != location else ""
    return f"blocked for {seconds:.2f} s so far: {location}{called}\n    {location.source}"


def other(finding: Finding) -> str:
    """Returns the message that is printed at once about a finding that is not a single block above the limit."""
    return f"{finding.kind.value} for {finding.seconds:.2f} s so far: {finding.place}\n    {finding.source}"


def summary(findings: list[Finding], known: int, seen: str, warn: float, explain: Explain) -> Iterator[str]:
    """Yields the lines of the summary. `findings`: the new findings.

    `known`: the number of findings that are allowed or in the baseline. `seen`: what the doctor has watched. `warn`:
    the limit of a block in seconds. `explain` returns more lines about one finding.
    """
    found = f"{len(findings)} {'finding' if len(findings) == 1 else 'findings'}"
    yield f"{seen}; {found} (limit {warn:g} s)" + (f", {known} more allowed or in the baseline" if known else "")
    for finding in findings:
        yield ""
        yield from described(finding)
        yield from (f"    {line}" for line in explain(finding))


def described(finding: Finding) -> Iterator[str]:
    """Yields the text about one finding, line by line: its place, times, code and kind, the calls, and the cure."""
    yield f"{finding.place}: {times(finding)}"
    yield f"    {finding.source}"
    yield f"    {finding.route or 'no request'} · {finding.kind.value}: {WHAT[finding.kind]}"
    yield from calls(finding)
    yield f"    Cure: {finding.cure.advice}"
    yield from ["    For example:"] if finding.cure.example else ()
    yield from (f"      - {line}" for line in finding.replaced.splitlines())
    yield from (f"      + {line}" for line in finding.cure.example.splitlines())


def calls(finding: Finding) -> Iterator[str]:
    """Yields the nearest outer line that can use `await` (in an `async def`), and the calls of the finding's line."""
    if finding.coroutine:
        yield f"      ← {finding.coroutine}, the nearest `async def`"
    yield from (f"      → {call}" for call in finding.chain[1:])


def times(finding: Finding) -> str:
    """Returns how often and how long the line has blocked."""
    if finding.kind is Kind.STARVES:
        calls = "1 call" if finding.count == 1 else f"{finding.count} calls"
        return (
            f"up to {calls} waited for a thread for {finding.longest:.2f} s; {finding.seconds:.2f} s of waiting in all"
        )
    often = "once" if finding.count == 1 else f"{finding.count} times"
    interval = f" ± {finding.uncertainty:.2f} s" if finding.uncertainty else ""
    return f"{often}, about {finding.seconds:.2f} s{interval}, longest {finding.longest:.2f} s"
