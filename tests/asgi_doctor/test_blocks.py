"""Time between a block's last sample and its end counts for this block, and for no other block."""

from dataclasses import replace

import pytest

from asgi_doctor.block import Block, Sample
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.findings import Findings
from asgi_doctor.parts import Part, divided
from asgi_doctor.request import NO_REQUEST
from asgi_doctor.scheduling import Interval
from asgi_doctor.stacks import Location, Stack
from asgi_doctor.tally import Tally
from asgi_doctor.watched import Passed

LINE = Location(__file__, 1, "fill")
FINALIZER = Location("/venv/lib/python3/site-packages/uvloop/transports.py", 862, "_SelectorTransport.__del__")
SERIALIZER = Location("/venv/lib/python3/site-packages/json/encoder.py", 200, "JSONEncoder.encode")


@pytest.mark.parametrize(
    ("answered", "before"), [(11.0, (1.0, 1.0, 0.9)), (10.4, (0.4, 0.4, 0.4)), (9.9, (0.0, 0.0, 0.0))]
)
def test_before_an_answer(answered: float, before: tuple[float, float, float]) -> None:
    """`before` counts at most the seconds before the answer, also for the collection."""
    passed = Passed(at=11.0, interval=Interval(1.0, 1.0, 0.0, 0.0), late=0.9, collecting=0.9)
    assert passed.before(answered) == pytest.approx(before)


@pytest.mark.parametrize(
    ("inner", "kind"), [((), Kind.COLLECTS), ((FINALIZER,), Kind.COLLECTS), ((SERIALIZER,), Kind.COMPUTES)]
)
def test_a_collection_after_the_last_sample(inner: Stack, kind: Kind) -> None:
    """A block in a finalizer counts as a collection. A block in a library that computes does not."""
    block = Block("task", NO_REQUEST, began=10.0)
    stack = (LINE, *inner)
    block.add(Sample(stack, seconds=0.1, computing=0.1, collecting=0.0))
    block.prolong(seconds=0.4, computing=0.4, collecting=0.4)
    block.lasts_until(10.5)
    [part] = divided(block, 0.02)
    tally = Tally(part, NO_REQUEST, short=False)
    tally.add(part, NO_REQUEST)
    assert tally.cause == kind
    assert len(block.samples) == 1


def test_the_calls_of_an_import() -> None:
    """The chain of a finding has the imported modules, but no frames of the import system."""
    package = Location("/venv/lib/python3/site-packages/pandas/__init__.py", 1, "<module>")
    stack = (LINE, Location("<frozen importlib._bootstrap>", 1176, "_find_and_load"), package)
    tally = Tally(_part(stack), NO_REQUEST, short=False)
    assert tally.finding().chain == (str(LINE), str(package))


@pytest.mark.parametrize(("turns", "released"), [(50, False), (600, True)])
def test_a_loop_that_starves_the_sampler(turns: int, released: bool) -> None:
    """In 0.2 s, a sampler that waits for the lock wakes up about 40 times, or more often if a loop releases it."""
    passed = Passed(11.0, Interval(0.21, 0.2, 0.0, 0.0, turns), late=0.2, collecting=0.0)
    assert passed.kept_lock
    assert passed.released_lock is released


@pytest.mark.parametrize(("computing", "kind"), [(1.5, Kind.COMPUTES), (0.0, Kind.WAITS)])
def test_a_block_without_end_is_told_once(computing: float, kind: Kind) -> None:
    """A block is reported before it ends if it lasts ten times the limit, and it is not reported again at its end."""
    told: list[Finding] = []
    findings = Findings(0.1, on_found=None, on_finding=told.append)
    block = Block("task", NO_REQUEST, began=10.0)
    block.add(Sample((LINE,), seconds=1.5, computing=computing, collecting=0.0))
    findings.count(block, 11.5)
    findings.end(block, 11.6)
    assert [finding.kind for finding in told] == [kind]
    assert len(findings.all()) == 1


def test_known_lines_are_counted_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """MOST_TALLIES bounds the memory. When it is reached, blocks of known lines are still counted."""
    monkeypatch.setattr("asgi_doctor.findings.MOST_TALLIES", 1)
    findings = Findings(0.1, None, None)
    for line in (LINE, LINE, LINE._replace(line=2), LINE):
        block = Block("task", NO_REQUEST, began=10.0)
        block.add(Sample((line,), seconds=0.5, computing=0.0, collecting=0.0))
        findings.end(block, 10.5)
    assert [(finding.line, finding.count) for finding in findings.all()] == [(1, 3)]


def _part(stack: Stack) -> Part:
    return Part(LINE, [Sample(stack, 0.1, 0.0, 0.0)], 0.1, 0.0, 0.0)


def test_a_short_starvation_after_a_long_one() -> None:
    """The finding keeps the figures of the longer starvation."""
    findings = Findings(0.1, None, None)
    tally = Tally(_part((LINE,)), NO_REQUEST, short=False)
    starved = replace(tally.finding(), kind=Kind.STARVES, seconds=60.0)
    for finding in (starved, replace(starved, seconds=0.4)):
        findings.add(finding)
    assert findings.all() == [starved]
