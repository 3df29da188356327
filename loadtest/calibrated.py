"""Replays the published attack in dilated time, so that this machine seems as fast as the published machine.

A CPU quota can only slow a machine down, so time is dilated instead, by a factor f. Every rate is divided by f, every
duration, time-out and latency is multiplied by f, and results are converted back.

There are three parameters. The first is f: the published throughput of v02_blocking, divided by its throughput on this
machine, which the run measures first. v02 is used because it sends one webhook at a time, on the event loop, so its
throughput depends least on threads, pools and the queue's concurrency.

The second is the CA bundle, which is not measured. It contains only a part of the CAs: loading this part takes as long
as loading all CAs took under OpenSSL 1.1.1. (We infer from the published image's age that it had OpenSSL 1.1.1.)

The third is the overhead of each request. A handler that does nothing reached 461 of 500 requests a second on the
published pod, so a request took 2.2 ms of the pod's core. A middleware (`profiles.instruments`) spends the difference
between this time and the time of such a request here. f is then measured again, with the overhead. A release without
ASGI has no middleware, so it runs without the overhead. With --overhead 0, no release has the overhead.

In addition, v07_sync_handler gets the published 200 requests a second for four minutes, once. v02_blocking is attacked
a second time without uvloop and httptools, because the published service answered 45 % of a thousand requests with
these libraries, and 38 % without them.

Writes calibrated.json to loadtest/results/<date>-<commit>. With --quick, --factor, --overhead or fewer repeats, writes
it to <date>-<commit>-quick.
"""

from pathlib import Path
from statistics import median

import click

from app.settings import Release
from loadtest import interleaved, outcome
from loadtest.failures import exit_on_failure
from loadtest.interleaved import SQS_LATENCY_S, Case, Sqs
from loadtest.record import folders, index
from loadtest.record.comparison import Environment, Run
from loadtest.record.shapes import Load
from loadtest.report import documents, tables
from loadtest.report.figures import PUBLISHED
from loadtest.stage import subject
from loadtest.stage.peers import do_nothing
from loadtest.stage.subject import AttackSubject
from profiles.instruments import OVERHEAD_MS

SPEED = Release.V02_BLOCKING
TIMEOUTS = ("APP_SQS_TIMEOUT", "APP_HEAD_TIMEOUT", "APP_BODY_TIMEOUT")  # the default of each is 10 s
FITS = 3  # f and the overhead are each computed from the median throughput of this number of attacks
REPEATS = 5
SECONDS = 5


def dilated(factor: float, seconds: float = SECONDS) -> Load:
    """Returns the load of the published attack, with times multiplied by `factor`, and the rate divided by `factor`."""
    return Load(rate=round(500 / factor), duration_s=seconds * factor, timeout_s=30 * factor)


def fitted() -> tuple[float, float]:
    """Returns f and the overhead (in ms) of the newest complete run. Raises NotMeasured if there is no complete run."""
    comparison, _ = documents.newest("calibrated", index.scan())  # index.json may not list the run yet
    return comparison.factor, comparison.overhead_ms


class Fit:
    """Measures f and the overhead. Each measurement overwrites `file`, and writes raw results beside the file.

    `runs`: the attacks of all measurements so far.
    """

    def __init__(self, file: Path, where: Environment, sqs: Sqs) -> None:
        self._file = file
        self._where = where
        self._sqs = sqs
        self.runs: list[Run] = []

    def factor(self, flags: dict[str, str]) -> float:
        """Returns f: the published throughput of the release SPEED, divided by its throughput on this machine.

        `flags`: environment variables of the release on this machine.
        """
        return PUBLISHED[SPEED]["rps"] / self._rps(
            "speed-with-overhead" if flags else "speed", subject.release(SPEED, **flags), dilated(1)
        )

    def overhead(self, factor: float) -> float:
        """Returns the overhead: how much more time a do-nothing request took on the published pod than here.

        The result is in ms of this machine's time, and at least 0. `factor`: f.
        """
        here = self._rps("nothing", do_nothing(), interleaved.closed_loop(interleaved.USERS, 5))
        return max(0.0, 1000 * (factor / PUBLISHED["do_nothing"]["rps"] - 1 / here))

    def _rps(self, kind: str, what: AttackSubject, load: Load) -> float:
        case = Case(kind, what, "burst", load)
        found = interleaved.run(f"calibrated: {kind}", [case], FITS, self._file, self._where, sqs=self._sqs)
        self.runs.extend(found.runs)
        return median(run.measurement.rps for run in found.runs)


def _release(release: Release, timeout: dict[str, str], overhead: dict[str, str]) -> AttackSubject:
    """Returns the release with the variables `timeout`, and with `overhead` if a middleware can be added to it."""
    return subject.release(release, **timeout, **(overhead if release.needs_asgi else {}))


def _cases(factor: float, timeout: dict[str, str], overhead: dict[str, str], quick: bool) -> list[Case]:
    python = {"UVICORN_LOOP": "asyncio", "UVICORN_HTTP": "h11"}
    releases = [_release(release, timeout, overhead) for release in subject.QUEUEING]
    slow = subject.by_uvicorn(SPEED, f"{SPEED}, asyncio and h11", **timeout, **overhead, **python)
    if quick:
        return [Case("calibrated", what, "burst", dilated(factor, 1)) for what in releases]
    sustained = Load(rate=round(200 / factor), duration_s=240 * factor, timeout_s=30 * factor)
    return [
        *(Case("calibrated", what, "burst", dilated(factor)) for what in (do_nothing(**overhead), slow, *releases)),
        Case("sustained", _release(Release.V07_SYNC_HANDLER, timeout, overhead), "burst", sustained, once=True),
    ]


@click.command(help=__doc__)
@click.option("--repeats", type=click.IntRange(1, 50), default=REPEATS, show_default=True)
@click.option("--factor", type=click.FloatRange(0.2, 5), help="f, instead of measuring it.")
@click.option("--overhead", type=click.FloatRange(0, 50), help="In ms of this machine, instead of measuring it.")
@click.option("--quick", is_flag=True, help="A trial run: attacks of 1 s, once, with the parameters of the last run.")
def main(repeats: int, factor: float | None, overhead: float | None, quick: bool) -> None:
    with exit_on_failure():
        where = interleaved.environment()
        if quick:
            repeats, (factor, overhead) = 1, fitted()
        # With --factor or --overhead, f or the overhead is not measured, so documents and the lab must not use the run.
        trial = factor is not None or overhead is not None or repeats < REPEATS
        file = folders.comparison(where, trial) / "calibrated.json"
        sqs = Sqs(SQS_LATENCY_S, "openssl-1.1")
        fit = Fit(file.with_suffix(".fit.json"), where, sqs)
        if overhead is None:
            overhead = fit.overhead(factor or fit.factor({}))
        flags = {OVERHEAD_MS: f"{overhead:.2f}"} if overhead else {}
        factor = factor or fit.factor(flags)
        print(f"f = {factor:.3f}, overhead of a request {overhead:.2f} ms")
        timeout = dict.fromkeys(TIMEOUTS, f"{10 * factor:.2f}")
        cases = _cases(factor, timeout, flags, quick)
        slow = sqs._replace(latency_s=SQS_LATENCY_S * factor)
        comparison = interleaved.run("calibrated: published time", cases, repeats, file, where, sqs=slow, factor=factor)
        # All figures depend on the runs of `fit`, so `finish` must report their doubts and failed audits as well.
        comparison.runs.extend(fit.runs)
        file.write_text(comparison.model_dump_json() + "\n", encoding="utf-8")
        outcome.finish(comparison, file, tables.calibrated(comparison))
