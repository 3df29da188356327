"""Makes one measurement: starts the subject, sends one webhook as a check, attacks, audits, and writes raw results."""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from loadtest.fire import vegeta
from loadtest.fire.arrivals import Arrivals
from loadtest.fire.behind import behind
from loadtest.fire.conditions import Observer
from loadtest.fire.http_request import Request
from loadtest.fire.precheck import check_one
from loadtest.fire.probe import Prober
from loadtest.fire.progress import SILENT, Progress
from loadtest.fire.queue_audit import audit
from loadtest.fire.traffic import Traffic
from loadtest.fire.used import used_of
from loadtest.fire.vegeta import Hit
from loadtest.record.shapes import Audit, Conditions, Load, Measurement, Used
from loadtest.stage import subject
from loadtest.stage.billing_stage import BillingStack
from loadtest.stage.budget import doubts, open_budget
from loadtest.stage.budget.docker import Docker
from loadtest.stage.stack import Stack
from loadtest.stage.stage_listener import Listener
from loadtest.stage.subject import AttackSubject, Running


class Fired(NamedTuple):
    """vegeta's results of an attack, and the audit. `audit` is None if nothing is audited."""

    hits: list[Hit]
    report: dict[str, Any]
    audit: Audit | None


class _Sent(NamedTuple):
    """The probes during an attack, and the CPU seconds of the service from vegeta's start to vegeta's end."""

    prober: Prober
    cpu_s: float


def measure(
    stack: Stack | BillingStack,
    what: AttackSubject,
    budget: str,
    load: Load,
    *,
    out: Path,
    progress: Progress = SILENT,
    begin: Callable[[Running], object] = lambda running: None,
) -> Measurement:
    """Starts a subject and attacks it. Calls `begin` right before the attack.

    Raises ChildProcessError if the subject does not start, PreCheckFailed if the webhook before the attack fails,
    CalledProcessError or TimeoutExpired if vegeta fails, botocore's errors if the queue fails, and URLError or
    ConfigurationError if the stand-in for SQS or Chargebee does not respond.
    """
    out.mkdir(parents=True, exist_ok=True)
    progress.phase(f"starting {what.name}")
    with ExitStack() as open_:
        far = open_.enter_context(behind(stack, what, load))
        limits = open_.enter_context(open_budget(budget))
        running = open_.enter_context(subject.start(what, limits, far.variables, out / "service.log"))
        arrived = open_.enter_context(far.arrived) if far.arrived else None
        traffic = far.traffic(running.url)
        check_one(traffic, arrived)
        begin(running)
        observer = Observer(stack)
        sent = _send(load, what.name, traffic, out, observer=observer, progress=progress, cpu=limits.cpu_seconds)
        spent = used_of(budget, limits, running, sent.cpu_s)
        fired = look(traffic, arrived, out)
    measurement = _measurement(what.name, load, traffic, fired, sent.prober)
    conditions = observer.conditions(load, fired.hits, contained=limits.how == Docker.how)
    conditions.doubts.extend(doubts(budget, limits))
    return _with_ours(measurement, far.described, what, spent, conditions)


def _with_ours(
    measurement: Measurement, sqs: dict[str, Any], what: AttackSubject, used: Used, conditions: Conditions
) -> Measurement:
    """Returns `measurement` with more fields, which are known only if this process has started the subject."""
    accepted = measurement.accepted
    used.cpu_ms_per_accepted = 1000 * used.cpu_s / accepted if accepted else None
    ours = {"release": what.release, "flags": what.flags, "used": used, "sqs": sqs, "conditions": conditions}
    return measurement.model_copy(update=ours)


def measure_elsewhere(
    traffic: Request, arrived: Arrivals | None, name: str, load: Load, *, out: Path, progress: Progress
) -> Measurement:
    """Attacks the running service at `traffic.url`. Audits unless `arrived` is None. Raises the errors of `measure`."""
    out.mkdir(parents=True, exist_ok=True)
    with arrived or nullcontext():
        check_one(traffic, arrived)
        service = Listener(traffic.url)
        observer = Observer(service=service)
        sent = _send(load, name, traffic, out, observer=observer, progress=progress)
        fired = look(traffic, arrived, out)
        measurement = _measurement(name, load, traffic, fired, sent.prober)
    conditions = observer.conditions(load, fired.hits)
    conditions.doubts.extend(service.doubts())
    return measurement.model_copy(update={"busiest": service.busiest, "conditions": conditions})


def _send(
    load: Load,
    name: str,
    traffic: Request,
    out: Path,
    *,
    observer: Observer,
    progress: Progress,
    cpu: Callable[[], float] = lambda: 0.0,
) -> _Sent:
    """Runs vegeta, while a prober probes the service, and `observer` observes the machine and the queue.

    `cpu` returns the CPU seconds that the service has used so far. The last probe may end half a minute after
    vegeta ends. `observer` and `cpu` measure only until vegeta ends, because afterwards, the service may still work for
    clients that have disconnected.
    """
    progress.phase("sending")
    prober = Prober(traffic.url, traffic.health, traffic.is_healthy)
    with ExitStack() as probing, observer:
        probing.enter_context(prober)  # entered after the observer, which takes half a second to begin
        before = cpu()
        vegeta.attack(load, name, traffic, out / "results.bin", lambda: progress.sent(traffic.number))
        spent = cpu() - before
    (out / "probes.json").write_text(json.dumps(prober.sequence) + "\n", encoding="utf-8")
    progress.phase("reading the results")
    return _Sent(prober, spent)


def look(traffic: Request, arrived: Arrivals | None, out: Path) -> Fired:
    """Writes vegeta's reports, and audits unless `arrived` is None.

    The audit begins when all webhooks with a 200 have arrived, or when no more messages arrive.
    """
    results = out / "results.bin"
    report = json.loads(vegeta.report(results, "json"))
    (out / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    (out / "hdr.txt").write_text(vegeta.report(results, "hdrplot"), encoding="utf-8")
    hits = vegeta.hits(results)
    if arrived is None:
        return Fired(hits, report, None)
    assert isinstance(traffic, Traffic), "only webhooks are audited"
    accepted = [hit.event_id for hit in hits if hit.event_id is not None]
    wanted = {traffic.sent[event_id] for event_id in accepted if event_id in traffic.sent}
    arrived.wait(lambda received: len(received) >= len(wanted) and wanted <= received.keys())
    return Fired(hits, report, audit(traffic.sent, accepted, arrived.received))


def _measurement(name: str, load: Load, traffic: Request, fired: Fired, prober: Prober) -> Measurement:
    """Returns a measurement with the fields that are known for every service, started here or elsewhere."""
    return Measurement(
        name=name,
        load=load,
        body_bytes=traffic.body_bytes,
        requests=fired.report["requests"],
        accepted=sum(traffic.is_success(hit.code) for hit in fired.hits),
        statuses=dict(Counter(str(hit.code) for hit in fired.hits)),
        request=None if isinstance(traffic, Traffic) else f"{traffic.method} {urlsplit(traffic.url).path}",
        errors=sorted({hit.error for hit in fired.hits if hit.error})[:10],
        rps=fired.report["throughput"],
        latencies=vegeta.latencies(fired.report),
        probes=prober.probes(),
        distribution=vegeta.distribution(fired.hits),
        audit=fired.audit,
    )
