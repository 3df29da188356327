"""Makes SQS unreachable for a minute, while the newest release gets 500 webhooks a second.

Records the responses before, during and after the outage, and the service's memory. The service calls SQS over TLS. An
audit checks that SQS has each webhook that got 200. Writes outage.json to loadtest/results/<date>-<commit>.
"""

import tempfile
import threading
from collections import Counter
from pathlib import Path

import click
import psutil

from app import open_files
from app.settings import NEWEST
from loadtest import interleaved
from loadtest.failures import exit_on_failure
from loadtest.fire import progress, vegeta
from loadtest.fire.arrivals import arrivals
from loadtest.fire.attack_measurement import look
from loadtest.fire.precheck import check_one
from loadtest.fire.traffic import Traffic
from loadtest.fire.vegeta import Hit
from loadtest.interleaved import SQS_LATENCY_S
from loadtest.record import folders
from loadtest.record.outage_record import Outage, Part
from loadtest.record.shapes import Load
from loadtest.stage import subject, toxiproxy
from loadtest.stage.budget import open_budget
from loadtest.stage.stack import PASSWORD, USER, Stack, open_stack

MIB = 1024 * 1024
RATE, SECONDS = 500, 60
# Webhooks that are sent up to CLOSE_S seconds before or after the outage count as sent during the outage. There are two
# reasons: the time of vegeta's first request is known only to about 0.5 s, and after the outage, the service still
# backs off and opens new connections.
CLOSE_S = 3.0
# If more webhooks than this were written, vegeta has begun to read, because the pipe to vegeta has room for fewer.
_IN_PIPE = 10


@click.command(help=__doc__)
@click.option("--rate", type=click.IntRange(1, 100_000), default=RATE, show_default=True, help="Webhooks a second.")
@click.option("--seconds", type=click.FloatRange(1, 600), default=SECONDS, show_default=True, help="Of the outage.")
def main(rate: int, seconds: float) -> None:
    with exit_on_failure():
        done = outage(rate, seconds)
        click.echo(done.text())
        file = folders.comparison(done.environment, quick=rate < RATE or seconds < SECONDS) / "outage.json"
        folders.write(file, done)
        click.echo(file)
    if not done.holds:
        raise SystemExit("a webhook with a 200 was lost, or one after the outage was not accepted")


def outage(rate: int, seconds: float) -> Outage:
    """Sends webhooks before, during and after the outage.

    `seconds`: the length of the outage. The attack begins earlier and ends later than the outage: each by a third
    of `seconds`, but by at least 6 s. Raises the errors of `loadtest.fire.attack_measurement`.
    """
    around = max(seconds / 3, 2 * CLOSE_S)
    load = Load(rate=rate, duration_s=seconds + 2 * around, timeout_s=30)
    where = interleaved.environment()
    open_files.raise_limit()
    with (
        tempfile.TemporaryDirectory() as folder,
        open_stack("stand-in", [toxiproxy.latency(SQS_LATENCY_S)]) as stack,
        open_budget("none") as budget,
    ):
        raw = Path(folder)
        queue_url = stack.new_queue()
        what = subject.release(NEWEST, **subject.BOUNDS)
        service = subject.start(what, budget, stack.environment(queue_url), raw / "service.log")
        with service as running, arrivals(stack, queue_url) as arrived, progress.attack("outage", load) as shown:
            traffic = Traffic(running.url, USER, PASSWORD)
            check_one(traffic, arrived)
            memory = _Memory(running.pid)
            ended = threading.Event()
            unreachable = threading.Thread(target=_interrupt, args=(stack, memory, around, seconds, ended), daemon=True)
            shown.phase("sending")

            def tick() -> None:
                if len(traffic.sent) > _IN_PIPE and not unreachable.ident:
                    unreachable.start()
                shown.sent(len(traffic.sent))

            try:
                vegeta.attack(load, "outage", traffic, raw / "results.bin", tick)
            finally:
                ended.set()
                if unreachable.ident:
                    unreachable.join()
            memory.now("after")
            fired = look(traffic, arrived, raw)
    assert fired.audit is not None
    ends = {"before": around - CLOSE_S, "during": around + seconds + CLOSE_S, "after": float("inf")}
    return Outage(
        environment=where,
        command=interleaved.called(),
        rate=rate,
        seconds=seconds,
        parts=_parts(fired.hits, ends),
        memory_mib=memory.mib,
        audit=fired.audit,
    )


class _Memory:
    """Records the service's resident memory. `mib`: the memory in MiB, by the name of the point in time."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self.mib: dict[str, float] = {}

    def now(self, when: str) -> None:
        self.mib[when] = self._process.memory_info().rss / MIB


def _interrupt(stack: Stack, memory: _Memory, before: float, seconds: float, ended: threading.Event) -> None:
    """Makes SQS unreachable after `before` seconds, for `seconds`. Returns early if the attack sets `ended`."""
    if ended.wait(before):
        return
    memory.now("before")
    stack.proxy.enable(False)
    if not ended.wait(seconds):
        memory.now("at its end")
    stack.proxy.enable(True)


def _parts(hits: list[Hit], ends: dict[str, float]) -> list[Part]:
    parts = []
    start = 0.0
    for name, end in ends.items():
        sent = [hit for hit in hits if start <= hit.at < end]
        statuses = Counter(str(hit.code) for hit in sent)
        slowest = max((hit.latency for hit in sent), default=0.0) * 1000
        parts.append(Part(name=name, webhooks=len(sent), statuses=dict(statuses), slowest_ms=slowest))
        start = end
    return parts
