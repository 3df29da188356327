"""Runs the simulation on a copy of the production code that has a planted fault, in a process of its own."""

import importlib
import importlib.abc
import importlib.machinery
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

from loguru import logger

from tests.simulation.mutants import CONNECTION, MACHINE, PATH, Mutant

APP = Path(__file__).parents[2] / "app"
# The modules to import again, because they are production code, or have imported production code.
AGAIN = ("app.", "local.", "tests.simulation.")
KEPT = (__name__, Mutant.__module__)

# The modules of the searches that do not use the scenarios.
SEARCHES = {MACHINE: "machine", PATH: "webhooks.search", CONNECTION: "connections.search"}
# The bounds of the runs, the cheapest first: preemptions, faults and actions.
BOUNDS = ((0, 1, 0), (2, 0, 0), (1, 1, 0))
WITH_ACTORS = ((0, 0, 1), (0, 1, 1))
# Seconds to wait for one mutant: with its fault, the code may run for ever.
PATIENCE = 300.0


class Hunted(NamedTuple):
    """The outcome of a hunt. `violation`: the violation that a run found, or None if the mutant has survived."""

    mutant: Mutant
    violation: str | None
    runs: int
    seconds: float


def planted(mutant: Mutant) -> str:
    """Returns the source with the fault. Raises ValueError unless the source has `before` exactly once."""
    source = (APP / mutant.file).read_text(encoding="utf-8")
    if source.count(mutant.before) != 1:
        raise ValueError(f"{mutant.file} does not have this text once: {mutant.before!r} ({mutant.name})")
    return source.replace(mutant.before, mutant.after)


def hunt_all(mutants: Sequence[Mutant], processes: int) -> Iterator[Hunted]:
    """Hunts each mutant in a process of its own, `processes` at a time. Raises TimeoutError if a search has no end."""
    for mutant in mutants:
        planted(mutant)  # before the first run, so that an outdated mutant fails at once
    with multiprocessing.get_context("fork").Pool(processes, maxtasksperchild=1) as pool:
        found = pool.imap(hunt, mutants)
        for mutant in mutants:
            try:
                yield found.next(PATIENCE)
            except multiprocessing.TimeoutError:
                raise TimeoutError(f"the search for {mutant.name!r} has not ended after {PATIENCE:g} s") from None


def hunt(mutant: Mutant) -> Hunted:
    """Plants the fault in this process, for ever, and runs the simulation until it finds a violation."""
    began = time.perf_counter()
    logger.remove()  # the faults make the service log errors, which the search reports
    for name in [name for name in sys.modules if f"{name}.".startswith(AGAIN) and name not in KEPT]:
        del sys.modules[name]
    module = "app." + mutant.file.removesuffix(".py").replace("/", ".")
    sys.meta_path.insert(0, _Planter(module, planted(mutant)))
    if mutant.run in SEARCHES:
        violation, runs = importlib.import_module(f"tests.simulation.{SEARCHES[mutant.run]}").first_violation()
    else:
        violation, runs = _first_violation(mutant.run, WITH_ACTORS if mutant.with_actors else BOUNDS)
    return Hunted(mutant, violation, runs, time.perf_counter() - began)


def _first_violation(name: str, bounds: Sequence[tuple[int, int, int]]) -> tuple[str | None, int]:
    """Explores the scenario within `bounds`. Returns the first violation, and the number of runs."""
    exhaustive = importlib.import_module("tests.simulation.exhaustive")
    scenarios = importlib.import_module("tests.simulation.scenarios")
    search = importlib.import_module("tests.simulation.search")
    scenario = next(one for one in scenarios.SCENARIOS if one.name == name)
    runs = 0
    for bound in bounds:
        found, _ = exhaustive.explore(scenario, search.Bound(*bound), stop=True)
        runs += found.runs
        if found.failures:
            return found.failures[0].what, runs
    return None, runs


class _Planter(importlib.abc.MetaPathFinder):
    """Imports `module` from the given source instead of from its file."""

    def __init__(self, module: str, source: str) -> None:
        self._module, self._source = module, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Planted(fullname, spec.origin, self._source)
        return spec


class _Planted(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, source: str) -> None:
        super().__init__(fullname, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, self.path, "exec")
