"""Measures the talk's tips in duets: two labs at the same time, each on a quarter of a core (see `loadtest.duet`)."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lab.measurement import endpoint
from lab.measurement.beside import Beside
from lab.measurement.case import EndpointCase, users
from lab.measurement.case_record import CaseRepeat
from loadtest import duet
from loadtest.record.comparison import Run
from loadtest.record.shapes import Load, Measurement
from loadtest.stage.subject import AttackSubject, Running

LOAD = users(64, 3)


def _tip(name: str, path: str = "nothing", *, body: bool = False, **variables: str) -> EndpointCase:
    return EndpointCase(name, f"/tips/{path}", LOAD, method="POST", body=body, budget="capped", variables=variables)


Group = tuple[EndpointCase, list[EndpointCase]]  # a reference case, and the cases that are compared with it
GROUPS: list[Group] = [
    (
        _tip("nothing"),
        [
            _tip("base_http", APP_LAB_MIDDLEWARE="base_http"),
            _tip("asgi", APP_LAB_MIDDLEWARE="asgi"),
            _tip("dict", "dict"),
            _tip("response-model", "response-model"),
            _tip("orjson", "orjson"),
            _tip("asyncio", APP_LAB_LOOP="asyncio"),
            _tip("h11", APP_LAB_HTTP="h11"),
            _tip("access-log", APP_LAB_ACCESS_LOG="1"),
        ],
    ),
    (_tip("body-once", "body-once", body=True), [_tip("body-twice", "body-twice", body=True)]),
]
QUICK_GROUPS: list[Group] = [(_tip("nothing"), [])]


def measure(
    beside: Beside, groups: list[Group], repeats: int, file: Path, shorter: Callable[[Load], Load]
) -> list[CaseRepeat]:
    """Measures each case of `groups` at the same time as the reference of its group.

    Also measures each reference together with a copy of itself, which shows the noise. `shorter` gets a case's load,
    and returns the load to use, which is shorter in a trial run. Raises the errors of `endpoint.measure`.
    """
    rows = []
    for reference, others in groups:
        cases = {case.name: replace(case, load=shorter(case.load)) for case in (reference, *others)}
        cases[f"{reference.name} {duet.AGAIN}"] = cases[reference.name]

        def attack(
            who: AttackSubject, raw: Path, begin: Callable[[Running], object], cases: dict[str, EndpointCase] = cases
        ) -> Measurement:
            return endpoint.measure(beside, cases[who.name], who, raw, begin).measurement

        runs = duet.duets(
            "tips",
            pairs=duet.pairs(reference.subject, [case.subject for case in others]),
            repeats=repeats,
            file=file,
            attack=attack,
        )
        rows += [_row(run, cases[run.measurement.name]) for run in runs]
    return rows


def _row(run: Run, case: EndpointCase) -> CaseRepeat:
    """Returns a row. A reference's row is named after its duet, because figures are comparable only within a duet."""
    measured = run.measurement
    name = measured.name if measured.name == run.kind else f"{measured.name} beside {run.kind}"
    return CaseRepeat(name=name, path=case.requested, workers=1, repeat=run.repeat, measurement=measured)
