"""Explains the figures of `attack.sh --url` in a short text.

If the figures show a problem, the text names a page of docs/questions.
"""

import math

from loadtest.record.shapes import Measurement
from loadtest.report.cells import milliseconds

QUESTIONS = "docs/questions"
# Probes (requests to a health path) that take longer than this are slow. On an idle service, they take a few ms.
SLOW_MS = 100.0
# A process is full if it uses at least this many cores. The Python code of one process cannot use more than one core.
FULL = 0.8
# If a request takes more than WAITED times as long as another request, it has waited for something.
WAITED = 3
RARE = 10
FEW = 0.01


def meaning(measured: Measurement) -> str:
    """Returns the text for an attack on a service that the load test has not started."""
    full = measured.busiest is not None and measured.busiest >= FULL
    slow_probes = _probe_ms(measured) > SLOW_MS
    if full:
        return _when_full(measured, slow_probes)
    if slow_probes:
        return _when_probes_wait(measured)
    return _when_probes_are_fast(measured)


def _when_full(measured: Measurement, slow_probes: bool) -> str:
    busy = f"the busiest process uses {_cpu(measured)}, and {_answered(measured)}"
    if slow_probes and _probe_ms(measured) > WAITED * measured.latencies.p50:
        return f"New connections wait longest ({_probes(measured)}): {busy}: see {_page('who_is_not_let_in')}."
    return f"The CPU is full: {busy}: see {_page('README')}, under “The CPU is full”."


def _when_probes_wait(measured: Measurement) -> str:
    waits = f"Answers wait for each other: {_probes(measured)}"
    if measured.busiest is None:
        return (
            f"{waits}. If the CPU of the service is low meanwhile, a call blocks the event loop or every worker: see"
            f" {_page('blocking')}. If it is full: see {_page('README')}."
        )
    return (
        f"{waits} while CPU is at {_cpu(measured)}, so a call blocks the event loop or every worker: see"
        f" {_page('blocking')} (or, if a container has a CPU limit, {_page('cpu_throttling')})."
    )


def _when_probes_are_fast(measured: Measurement) -> str:
    times, failed = measured.latencies, measured.requests - measured.accepted
    if measured.requests and failed / measured.requests > FEW:
        return f"{failed:,} of {measured.requests:,} requests failed ({_statuses(measured)}): see {_page('overload')}."
    if times.p50 > max(SLOW_MS, WAITED * times.fastest):
        return (
            f"Requests wait in line (the fastest takes {milliseconds(times.fastest)}, half of them more than"
            f" {milliseconds(times.p50)}) although {_probes(measured)}: all threads, or all connections of a"
            f" pool, are in use: see {_page('tokens')} and {_page('deadlock')}."
        )
    doubtful = measured.conditions is not None and measured.conditions.doubts
    if times.p99 > max(SLOW_MS, RARE * times.p50) and not doubtful:
        return (
            f"One request in a hundred takes {milliseconds(times.p99)} and half of them {milliseconds(times.p50)}:"
            f" something rare blocks the others: see {_page('blocking')}."
        )
    cpu = "" if measured.busiest is None else f", and the busiest process uses {_cpu(measured)}"
    return (
        f"Requests do not wait for each other at this load: half of them take {milliseconds(times.p50)}, 99 % at most"
        f" {milliseconds(times.p99)}, {_probes(measured)}{cpu}. A higher load finds the limit."
    )


def _probe_ms(measured: Measurement) -> float:
    """Returns the median latency of the probes in ms. It is infinite if all probes failed, and 0 without probes."""
    probes = measured.probes
    if probes is None:
        return 0.0
    return math.inf if probes.p50 is None else probes.p50


def _probes(measured: Measurement) -> str:
    found = _probe_ms(measured)
    return "probes fail" if math.isinf(found) else f"probes take {milliseconds(found)}"


def _cpu(measured: Measurement) -> str:
    assert measured.busiest is not None, "each caller has asked"
    return f"{100 * measured.busiest:.0f} % of a core"


def _answered(measured: Measurement) -> str:
    """Returns a text: how many requests a second succeeded and, in an open loop, how many were sent."""
    sent = f" of {measured.load.rate:,}" if measured.load.users is None else ""
    return f"{measured.rps:,.0f}{sent} requests a second succeed"


def _statuses(measured: Measurement) -> str:
    codes = sorted(measured.statuses.items(), key=lambda item: -item[1])
    return ", ".join(f"{'no answer' if code == '0' else code}: {number:,}" for code, number in codes)


def _page(name: str) -> str:
    return f"{QUESTIONS}/{name}.md"
