"""Explores a scenario with several processes: first the runs without a fault, then the runs of each fault."""

import gc
import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby

from loguru import logger

from tests.simulation.graph import END, Graph, Transition
from tests.simulation.scenarios import Scenario
from tests.simulation.search import Bound, Deferred, Found, Search

Task = tuple[Scenario, Bound, list[Deferred]]
Progress = Callable[[int, int, Found], None]


def unreported(_done: int, _all: int, _found: Found) -> None:
    """Reports no progress."""


def explore(
    scenario: Scenario, bound: Bound, processes: int = 1, progress: Progress = unreported, *, stop: bool = False
) -> tuple[Found, float]:
    """Explores all runs within `bound`. Returns the result, and the seconds it took. `stop`: end after a failure."""
    began = time.perf_counter()
    graph = Graph()
    with _quiet():
        deferred: list[Deferred] = []
        search = Search(
            scenario, bound, graph, deferred=deferred if bound.faults else None, most_failures=1 if stop else 3
        )
        found = search.run()
        tasks = [] if stop and found.failures else _tasks(scenario, bound, deferred)
        for number, (task, schedules, more) in enumerate(_explored(tasks, processes), 1):
            found.add(more)
            for one, below in zip(task[2], schedules, strict=True):
                _add_below(graph, one, below)
            progress(number, len(tasks), found)
            if stop and found.failures:
                break
    if search.first is not None and not found.failures:
        found.schedules = graph.count(search.first)
    return found, time.perf_counter() - began


def _add_below(graph: Graph, fault: Deferred, schedules: list[int]) -> None:
    """Adds to the graph how many schedules follow the fault. `schedules`: the numbers by preemptions left."""
    place = fault.state, fault.identity
    graph.transitions[fault.state][fault.identity] = Transition(fault.label[0], False, fault.overtakes, END, "")
    graph.below[place] = max(schedules, graph.below.get(place, []), key=len)


def _tasks(scenario: Scenario, bound: Bound, deferred: Iterable[Deferred]) -> list[Task]:
    """Returns a task for each call of a process and each fault. States with more preemptions left come first."""
    ordered = sorted(deferred, key=lambda one: (one.label, -one.left))
    return [(scenario, bound, list(group)) for _, group in groupby(ordered, key=lambda one: one.label)]


def _explored(tasks: list[Task], processes: int) -> Iterator[tuple[Task, list[list[int]], Found]]:
    if processes == 1:
        yield from map(_explore_task, tasks)
        return
    with multiprocessing.Pool(processes, _prepare) as pool:
        yield from pool.imap_unordered(_explore_task, tasks)


def _explore_task(task: Task) -> tuple[Task, list[list[int]], Found]:
    """Explores all runs that begin with a task's choices. Returns the numbers of schedules by preemptions left."""
    scenario, bound, deferred = task
    graph = Graph()
    found, schedules = Found(), []
    for one in deferred:
        search = Search(scenario, bound, graph, one.choices)
        found.add(search.run())
        first = search.first
        assert first is not None
        schedules.append([graph.count(first._replace(preemptions=left)) for left in range(one.left + 1)])
    name, number, fault = deferred[0].label
    found.crash_points = Counter({(name, number, fault.value): len({one.state for one in deferred})})
    return task, schedules, found


def _prepare() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # after Ctrl-C, the parent ends its pool
    logger.remove()
    _collect_rarely()


def _collect_rarely() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@contextmanager
def _quiet() -> Iterator[None]:
    """Switches the log lines of the production code off."""
    logger.disable("app")
    try:
        yield
    finally:
        logger.enable("app")
