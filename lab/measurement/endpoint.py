"""Measures one endpoint of the lab: starts the lab, sends one request, warms up, attacks, and collects the results.

There is no audit of a queue, because the lab enqueues nothing.
"""

import http.client
import json
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from lab.measurement.beside import Beside
from lab.measurement.case import EndpointCase, users
from lab.measurement.case_record import Cores, Threads
from lab.measurement.case_target import Target
from lab.measurement.case_usage import Usage
from loadtest.fire import vegeta
from loadtest.fire.precheck import PreCheckFailed
from loadtest.fire.used import used_of
from loadtest.record.shapes import Conditions, Measurement, Used
from loadtest.stage import subject
from loadtest.stage.budget import doubts, open_budget
from loadtest.stage.subject import AttackSubject, Running
from local.machine import Busy, Watch

WARM_UP_SECONDS = 2.0
WARM_UP_USERS = 16


class Measured(NamedTuple):
    """The results of an attack: see `lab.measurement.case_record.CaseRepeat`."""

    measurement: Measurement
    threads: Threads
    cores: Cores


def measure(
    beside: Beside,
    case: EndpointCase,
    what: AttackSubject,
    out: Path,
    begin: Callable[[Running], object] = lambda running: None,
) -> Measured:
    """Starts `what`, the lab of the case, and attacks it. Calls `begin` right before the attack.

    `out`: the folder for the raw results. Raises PreCheckFailed if the first request gets no 200, ChildProcessError if
    the lab does not start, and CalledProcessError or TimeoutExpired if vegeta fails.
    """
    out.mkdir(parents=True, exist_ok=True)
    with open_budget(case.budget) as budget:
        with subject.start(what, budget, beside.environment(case.database), out / "service.log") as running:
            usage = Usage(budget, running, beside, case.workers)
            _check(case.target(running.url, short=True))
            _warm_up(case, running, out)
            begin(running)
            with Watch() as machine, usage:
                vegeta.attack(case.load, what.name, case.target(running.url), out / "results.bin", usage.tick)
            used = used_of(case.budget, budget, running, usage.cpu_s)
            threads = usage.threads()
        # `machine.busy` times a loop, which a running lab would slow down. So read `busy` only after the lab has ended.
        conditions = _conditions(machine.busy, doubts(case.budget, budget))
    return Measured(_measurement(case, what, used, conditions, out), threads, usage.cores)


def _check(target: Target) -> None:
    """Sends one request before the attack. Raises PreCheckFailed if the answer is not 200."""
    parts = urlsplit(target.url)
    headers = {"Content-Type": "application/json"} if target.body else {}
    with closing(http.client.HTTPConnection(parts.netloc, timeout=30)) as connection:
        try:
            connection.request(target.method, f"{parts.path}?{parts.query}", target.body or None, headers)
            response = connection.getresponse()
            answer = response.read(1000).decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise PreCheckFailed(f"{target.url}: {error!r}") from None
    if response.status != http.client.OK:
        raise PreCheckFailed(f"{target.url} answered {response.status}: {answer}")


def _warm_up(case: EndpointCase, running: Running, out: Path) -> None:
    """Sends short requests, so that threads, connections and caches exist before the attack."""
    seconds = min(WARM_UP_SECONDS, case.load.duration_s / 2)
    load = users(min(WARM_UP_USERS, case.load.users or 1), seconds)
    vegeta.attack(load, "warm-up", case.target(running.url, short=True), out / "warm-up.bin", lambda: None)


def _measurement(case: EndpointCase, what: AttackSubject, used: Used, conditions: Conditions, out: Path) -> Measurement:
    report = json.loads(vegeta.report(out / "results.bin", "json"))
    (out / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    hits = vegeta.hits(out / "results.bin")
    accepted = sum(hit.code == http.client.OK for hit in hits)
    cost = 1000 * used.cpu_s / accepted if accepted else None
    return Measurement(
        name=what.name,
        flags=what.flags,
        load=case.load,
        body_bytes=len(case.target("").body),
        used=used.model_copy(update={"cpu_ms_per_accepted": cost}),
        requests=report["requests"],
        accepted=accepted,
        statuses=dict(Counter(str(hit.code) for hit in hits)),
        errors=sorted({hit.error for hit in hits if hit.error})[:10],
        rps=report["throughput"],
        latencies=vegeta.latencies(report),
        conditions=conditions,
        distribution=[],
        audit=None,
    )


def _conditions(busy: Busy, unlimited: list[str]) -> Conditions:
    """Returns the conditions of the attack. `unlimited`: the reasons why the CPU was not limited.

    `queue_cores` and `ping_ms` are None, because the lab has no queue. `late_ms` is None, because it is not measured.
    """
    return Conditions(
        foreign_cores=busy.foreign_cores,
        stolen_cores=busy.stolen_cores,
        queue_cores=None,
        late_ms=None,
        ping_ms=None,
        slowdown=busy.slowdown,
        doubts=[*busy.doubts(), *unlimited],
    )
