"""Measures the CPU time of the lab and of the processes beside it during an attack, and counts the lab's threads."""

import http.client
import json
import resource
import time
from contextlib import closing, suppress
from typing import Self
from urllib.parse import urlsplit

import psutil

from lab.measurement.beside import Beside
from lab.measurement.case_record import Cores, Threads
from loadtest.stage.budget import Budget
from loadtest.stage.subject import Running
from loadtest.stage.tree import cpu_seconds, tree

ASK_SECONDS = 10


class Usage:
    """Measures CPU and threads while an attack runs inside the context.

    The results are `cores`, `cpu_s` (the lab's CPU seconds) and `threads()`. Create the object before the lab's first
    request, so that `Threads.before` counts the threads that already run. Call `tick` repeatedly during the attack,
    because `tick` samples the number of threads.
    """

    def __init__(self, budget: Budget, running: Running, beside: Beside, workers: int) -> None:
        self._budget, self._running, self._beside, self._workers = budget, running, beside, workers
        self._before = self._most = threads(running.pid)

    def __enter__(self) -> Self:
        self._start = self._now()
        return self

    def __exit__(self, *error: object) -> None:
        clock, *spent = (after - before for after, before in zip(self._now(), self._start, strict=True))
        self.cpu_s = spent[0]
        lab, generator, upstream, database, harness = (round(seconds / max(clock, 0.001), 3) for seconds in spent)
        self.cores = Cores(
            lab=lab,
            generator=generator,
            upstream=upstream,
            database=database,
            harness=harness,
            of=psutil.cpu_count() or 1,
        )

    def tick(self) -> None:
        self._most = max(self._most, threads(self._running.pid))

    def threads(self) -> Threads:
        """Returns the numbers of threads.

        Asks the lab for its Python threads only if the lab is one process. Otherwise, any one of the processes might
        answer.
        """
        python = _python_peak(self._running.url) if self._workers == 1 else None
        return Threads(python=python, os=self._most, before=self._before)

    def _now(self) -> tuple[float, ...]:
        """Returns the time, and the CPU seconds of each program so far, in the order of the fields of `Cores`."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)  # vegeta is the only child that ends during the attack
        database = self._beside.database
        return (
            time.monotonic(),
            self._budget.cpu_seconds(),
            ended.ru_utime + ended.ru_stime,
            cpu_seconds(self._beside.upstream.pid),
            cpu_seconds(database.pid) if database else 0.0,
            time.process_time(),
        )


def threads(pid: int) -> int:
    """Returns the number of threads of a process and its descendants, as the operating system counts them."""
    number = 0
    for process in tree(pid):
        with suppress(psutil.NoSuchProcess):
            number += process.num_threads()
    return number


def _python_peak(url: str) -> int | None:
    """Returns `python_peak` of GET /threads, or None if there is no valid answer within ASK_SECONDS."""
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=ASK_SECONDS)) as connection:
        try:
            connection.request("GET", "/threads")
            peak: int = json.loads(connection.getresponse().read())["python_peak"]
        except (OSError, http.client.HTTPException, ValueError, KeyError):
            return None
    return peak
