"""Sends many webhooks: at a fixed rate (open loop), or from senders that wait for each response (closed loop)."""

import asyncio
import contextlib
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus

import aiohttp

from local.chargebee.sender import Reply, post

PROBE_SECONDS = 0.02
Send = Callable[[bytes], Coroutine[None, None, None]]


@dataclass
class LoadResult:
    """The responses to the webhooks that `load` has sent. All times are in seconds.

    `accepted` contains the bodies of the webhooks that the service answered with 200. `probes` contains the latency of
    each answered request to /healthz during the load. If a request is unanswered at the end of the load, `probes` also
    contains its waiting time until then. `failed_probes` is the number of requests to /healthz that failed.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    accepted: list[bytes] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    probes: list[float] = field(default_factory=list)
    failed_probes: int = 0
    seconds: float = 0.0

    def report(self) -> str:
        """Returns a line about the responses and their latencies. If there are probes, adds a line about /healthz."""
        answers = ", ".join(f"{status or 'no answer'}: {number:,}" for status, number in sorted(self.statuses.items()))
        fastest, median, slowest = min(self.latencies), statistics.median(self.latencies), max(self.latencies)
        rate = self.statuses[HTTPStatus.OK] / self.seconds
        times = f"fastest {_ms(fastest)}, median {_ms(median)}, slowest {_ms(slowest)}"
        return f"{answers} in {self.seconds:.2f} s ({rate:,.0f}/s); {times}{self._probes()}"

    def _probes(self) -> str:
        if not self.probes and not self.failed_probes:
            return ""
        slowest = f", slowest {_ms(max(self.probes))}" if self.probes else ""
        failed = f"; {self.failed_probes} failed" if self.failed_probes else ""
        return f"\n/healthz meanwhile: {len(self.probes)} answers{slowest}{failed}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"


async def load(
    client: aiohttp.ClientSession,
    prober: aiohttp.ClientSession,
    bodies: Iterator[bytes],
    *,
    concurrency: int,
    rate: float | None,
    answered: Callable[[], None],
) -> LoadResult:
    """Posts all `bodies`, and returns the responses.

    If `rate` is set, posts `rate` webhooks per second (open loop). Otherwise, each of `concurrency` senders posts a
    webhook, waits for the response, and posts the next webhook (closed loop). Meanwhile, `prober` requests /healthz
    repeatedly. Calls `answered` after each webhook that was answered or failed.
    """
    result = LoadResult()

    async def send(body: bytes) -> None:
        reply, seconds = await _timed(lambda: post(client, body))
        result.statuses[reply.status] += 1
        result.latencies.append(seconds)
        if reply.status == HTTPStatus.OK:
            result.accepted.append(body)
        answered()

    async with _probing(prober, result):
        started = time.perf_counter()
        await (_closed_loop(send, bodies, concurrency) if rate is None else _open_loop(send, bodies, rate))
        result.seconds = time.perf_counter() - started
    return result


async def _closed_loop(send: Send, bodies: Iterator[bytes], concurrency: int) -> None:
    async def send_on() -> None:
        for body in bodies:  # all senders share the iterator `bodies`, so each body is sent once
            await send(body)

    await asyncio.gather(*(send_on() for _ in range(concurrency)))


async def _open_loop(send: Send, bodies: Iterator[bytes], rate: float) -> None:
    started = time.perf_counter()
    async with asyncio.TaskGroup() as senders:
        for number, body in enumerate(bodies):
            await asyncio.sleep(started + number / rate - time.perf_counter())
            senders.create_task(send(body))


@contextlib.asynccontextmanager
async def _probing(prober: aiohttp.ClientSession, result: LoadResult) -> AsyncIterator[None]:
    probing = asyncio.create_task(_probe(prober, result))
    try:
        yield
    finally:
        probing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await probing


async def _probe(prober: aiohttp.ClientSession, result: LoadResult) -> None:
    """Requests /healthz again and again, and adds each latency to `result`.

    If the task is cancelled during a request, adds the time for which this request has waited.
    """
    while True:
        started = time.perf_counter()
        try:
            async with prober.get("/healthz", raise_for_status=True):
                pass
        except (aiohttp.ClientError, TimeoutError):
            result.failed_probes += 1
        except asyncio.CancelledError:
            result.probes.append(time.perf_counter() - started)
            raise
        else:
            result.probes.append(time.perf_counter() - started)
        await asyncio.sleep(PROBE_SECONDS)


async def _timed(request: Callable[[], Awaitable[Reply]]) -> tuple[Reply, float]:
    started = time.perf_counter()
    reply = await request()
    return reply, time.perf_counter() - started
