"""The corpus keeps its format, and the doctor is right about a few of its cases. `python -m tests.doctor` runs all."""

from collections.abc import Iterator

import pytest

from asgi_doctor.finding import Kind
from tests.doctor.case import Case, cases
from tests.doctor.judge import CURES, judge
from tests.doctor.run import under_doctor
from tests.doctor.stand_ins import stand_ins

FRAMEWORKS = {"fastapi", "starlette", "litestar", "asgi"}
FEW = ("httpx_get", *(pytest.param(name, marks=pytest.mark.slow) for name in ("to_thread_starved", "healthy_fan_out")))
HEALTHY_RUNS = 5  # at most; the first one without a finding is enough


@pytest.fixture(scope="module")
def variables() -> Iterator[dict[str, str]]:
    with stand_ins() as found:
        yield found


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.half}/{case.name}")
def test_the_format_of_a_case(case: Case) -> None:
    """A case has a framework, a kind, cures and requests that README.md allows."""
    assert case.framework in FRAMEWORKS
    assert case.kind is None or case.kind in set(Kind)
    assert set(case.cures) <= set(CURES)
    assert bool(case.cures) == (case.kind is not None)
    assert case.send


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize("name", FEW)
def test_a_case(name: str, loop: str, variables: dict[str, str]) -> None:
    """The doctor finds line, kind, route and cure, and nothing in a healthy application."""
    [case] = [case for case in cases(only=name) if case.name == name]
    if case.kind is None:
        # A hypervisor that takes the core away for 0.1 s looks like a line that waits. A fault is found in each run.
        for _ in range(HEALTHY_RUNS):
            if not (reported := under_doctor(case, loop, variables)):
                return
        pytest.fail(f"in each of {HEALTHY_RUNS} runs, at last: {[str(one) for one in reported]}")
    else:
        verdict = judge(case, under_doctor(case, loop, variables))
        assert all((verdict.found, verdict.line, verdict.kind, verdict.route, verdict.cure)), verdict
