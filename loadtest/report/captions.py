"""The captions of tables and pictures: the command, the commit, the machine, and the stand-ins."""

import re
from statistics import median
from typing import Any

from loadtest.record.comparison import Comparison, Environment
from loadtest.report.cells import label

_CHARGEBEE = "chargebee"  # only v01's `Measurement.sqs` has this key, because only v01 calls Chargebee


def provenance(comparison: Comparison, repeated: bool = True) -> str:
    """Returns the comparison's conditions and, if `repeated`, the number of repeats and the text of `of_inline`."""
    if not repeated:
        return f"{conditions(comparison)}; once."
    return " ".join(filter(None, [f"{conditions(comparison)}; {repeats(comparison)}.", of_inline(comparison)]))


def repeats(comparison: Comparison) -> str:
    """Returns a text with the number of repeats, for figures that are medians with intervals.

    For `bench`, the number may be a range: `bench` repeats a pair of programs until the pair's interval is narrow.
    """
    kinds = {run.kind for run in comparison.runs}
    duets = [found for kind in kinds if (found := len(comparison.of(kind, kind)))]
    least, most = min(duets, default=comparison.repeats), max(duets, default=comparison.repeats)
    number = f"{most}" if least == most else f"{least} to {most}"
    return f"{number} interleaved repeats: median (interval)"


def conditions(comparison: Comparison) -> str:
    """Returns command, commit, machine, queue, added latency, and how many runs are doubtful or failed the audit."""
    sqs = behind(comparison)
    queue, latency = sqs.get("queue", ""), sum(attributes["latency"] for _, attributes in sqs.get("toxics", []))
    added = label(f"{latency:g} ms of added latency", [run.measurement for run in comparison.runs])
    return f"{measured_by(comparison.command, comparison.environment)}, {queue} with {added}"


def behind(comparison: Comparison) -> dict[str, Any]:
    """Returns the queue and toxiproxy's toxics (injected delays and faults), or {} if no measurement used a queue."""
    found = (run.measurement.sqs or {} for run in comparison.runs)
    return next((sqs for sqs in found if _CHARGEBEE not in sqs), {})


def of_inline(comparison: Comparison) -> str:
    """Returns a text about the services that v01 calls instead of a queue, or "" if v01 was not measured.

    If v01 was attacked in an open loop, the text begins with v01's load, which differs from that of the other releases.
    """
    measured = [run.measurement for run in comparison.runs if _CHARGEBEE in (run.measurement.sqs or {})]
    if not measured:
        return ""
    behind, load = measured[0].sqs or {}, measured[0].load
    chargebee, latency = behind[_CHARGEBEE], sum(attributes["latency"] for _, attributes in behind["toxics"])
    audits = [one.audit for one in measured if one.audit is not None]
    late = median(audit.late for audit in audits) if audits else 0
    parts = [
        f"v01 had DynamoDB with {latency:g} ms of added latency, and a stand-in of Chargebee that takes"
        f" {1000 * chargebee['latency_s']:g} ms for a call (an assumption) and {chargebee['rate']:,} calls a minute."
    ]
    if not load.users:
        sent = f"v01 was sent {load.rate * load.duration_s:,.0f} webhooks, {load.rate} a second."
        parts = ["The load script of v01 was not published.", sent, *parts]
    if late:
        parts.append(f"Invoices closed for webhooks that got no 200: {late:,.0f}.")
    return " ".join(parts)


def measured_by(command: str, environment: Environment, *, tls: bool = True) -> str:
    """Returns the command, the commit and the machine of a measurement. `tls`: see `where`."""
    return f"Measured by `{command}` {where(environment, tls=tls)}"


def where(environment: Environment, *, tls: bool = True) -> str:
    """Returns the commit, the day, the machine, the Python and the OpenSSL of a measurement.

    Leaves out OpenSSL if the result does not have it, or if `tls` says that the measurement did not use TLS.
    """
    machine = environment.machine
    python = f"{machine['cores']} cores ({processor(machine)}), Python {machine['python']}"
    if tls and "openssl" in machine:
        python += f", OpenSSL {machine['openssl']}"
    return f"on `{environment.commit}`, {environment.started[:10]}, {python}"


def processor(machine: dict[str, str]) -> str:
    """Returns the short name of the CPU: `Intel Xeon` for `Intel(R) Xeon(R) Processor`."""
    return re.sub(r"\(R\)|\(TM\)| Processor$", "", machine["cpu"])
