"""Runs vegeta: the attack, and the reports on its results."""

import base64
import csv
import json
import math
import subprocess
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from loadtest.record.shapes import Latencies, Load

LATE_SECONDS = 60  # extra time in which vegeta starts and writes the results


class Hit(NamedTuple):
    """One request. `at`: seconds since the first request. `latency`: in seconds. `event_id`: see `_queued_id`."""

    at: float
    latency: float
    code: int
    error: str
    event_id: str | None


class Targets(Protocol):
    """The requests that vegeta sends.

    `options`: arguments for vegeta: how to read the requests, and how much of each response to store.
    """

    @property
    def options(self) -> tuple[str, ...]: ...

    def feed(self, pipe: IO[bytes]) -> threading.Thread:
        """Starts a thread that writes targets in vegeta's JSON format to `pipe`, vegeta's standard input."""
        ...


def command(load: Load, name: str, results: Path, options: tuple[str, ...]) -> list[str]:
    """Returns vegeta's command line, which reads the targets from standard input.

    In a closed loop, vegeta begins with one worker for each user. Each worker sends its next request right after a
    response, so each user always has a request in flight (lib/attack.go of vegeta 12.12: `Attack`, with a pacer that
    never waits).
    """
    limits = ["-rate", f"{load.rate}/1s"]
    if load.users is not None:
        limits = ["-rate", "0", "-workers", str(load.users), "-max-workers", str(load.users)]
    limits += [] if load.keepalive else ["-keepalive=false"]
    times = ["-duration", f"{load.duration_s:g}s", "-timeout", f"{load.timeout_s:g}s"]
    return ["vegeta", "attack", "-name", name, "-format", "json", *options, *limits, *times, "-output", str(results)]


def attack(load: Load, name: str, targets: Targets, results: Path, tick: Callable[[], None]) -> None:
    """Runs the attack to its end, and calls `tick` every 100 ms. Ctrl-C also kills vegeta.

    Raises CalledProcessError if vegeta fails, and TimeoutExpired if vegeta does not end in time.
    """
    deadline = time.monotonic() + load.duration_s + load.timeout_s + LATE_SECONDS
    arguments = command(load, name, results, targets.options)
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdin is not None
        feeder = targets.feed(process.stdin)
        try:
            while True:
                try:
                    code = process.wait(0.1)
                    break
                except subprocess.TimeoutExpired:
                    if time.monotonic() > deadline:
                        raise
                    tick()
        except BaseException:
            process.kill()
            raise
        finally:
            # The feeder closes the pipe. If `with` closed it, BrokenPipeError would replace KeyboardInterrupt.
            feeder.join()
    if code:
        raise subprocess.CalledProcessError(code, process.args)


def report(results: Path, kind: str) -> str:
    """Returns vegeta's report of the given kind: `text`, `json` or `hdrplot`."""
    return _run("report", f"-type={kind}", str(results))


def plot(results: Path) -> str:
    """Returns vegeta's plot of latency over time, as HTML."""
    return _run("plot", str(results))


def _run(*arguments: str) -> str:
    return subprocess.run(["vegeta", *arguments], check=True, capture_output=True, encoding="utf-8").stdout


def hits(results: Path) -> list[Hit]:
    """Returns all requests, in the order of their responses.

    Raises CalledProcessError if vegeta cannot read `results`.
    """
    with subprocess.Popen(
        ["vegeta", "encode", "-to", "csv", str(results)], stdout=subprocess.PIPE, encoding="utf-8"
    ) as run:
        assert run.stdout is not None
        # Columns: timestamp, code, latency, bytes out, bytes in, error, body, …
        rows = [(int(row[0]), int(row[1]), int(row[2]), row[5], row[6]) for row in csv.reader(run.stdout)]
    if run.returncode:
        raise subprocess.CalledProcessError(run.returncode, run.args)
    first = min((row[0] for row in rows), default=0)
    return [
        Hit((at - first) / 1e9, latency / 1e9, code, error, _queued_id(code, body))
        for at, code, latency, error, body in rows
    ]


def _queued_id(code: int, body: str) -> str | None:
    """Returns the event id of a 200 with status `queued` or `processed`, "" for other 200s, None for other codes."""
    if code != HTTPStatus.OK:
        return None
    try:
        answer = json.loads(base64.b64decode(body))
        return str(answer["event_id"]) if answer["status"] in ("queued", "processed") else ""
    except (ValueError, KeyError, TypeError):
        return ""


def latencies(report: dict[str, Any]) -> Latencies:
    """Returns the latencies of vegeta's JSON report, in milliseconds."""
    names = {"fastest": "min", "mean": "mean", "p50": "50th", "p90": "90th", "p95": "95th", "p99": "99th"}
    names |= {"slowest": "max"}
    return Latencies(**{ours: report["latencies"][theirs] / 1e6 for ours, theirs in names.items()})


def distribution(hits: list[Hit]) -> list[tuple[float, float]]:
    """Returns pairs of percentile and latency in ms. The more requests, the closer the last percentile is to 100."""
    ordered = sorted(hit.latency * 1000 for hit in hits)
    shares = [1 - 10 ** (-step / 8) for step in range(1 + int(8 * math.log10(max(1, len(ordered)))))]
    return (
        [(round(100 * share, 4), round(ordered[int(share * len(ordered))], 3)) for share in shares] if ordered else []
    )
