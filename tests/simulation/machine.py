"""Random runs beyond the bound of the exhaustive search, drawn and shrunk by Hypothesis.

The runs have more events, workers, duplicates and faults, clocks that are up to 30 s wrong, messages in another order,
bodies that are no event (poison), and `redrive` and `reconcile` at the same time.
"""

import random
from typing import Any

from hypothesis import HealthCheck, Phase, note, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from loguru import logger

from tests.simulation.actors import ACTIONS, Action, act
from tests.simulation.calls import Fault
from tests.simulation.commands import check_recovery
from tests.simulation.processes import State
from tests.simulation.queues import newest, oldest
from tests.simulation.run import Run
from tests.simulation.scenarios import SAFE_WITH_OTHER_KEYS, UNLIMITED, Scenario
from tests.simulation.steps import Kind, Step, Violation

MOST_FAULTS, MOST_WORKERS, MOST_ACTIONS = 4, 4, 4
ANY_NUMBER = 10
# A lease allows clocks to differ by a twelfth of the lease's length. A worker whose clock is 30 s wrong may take over a
# lease that has not ended. Then only idempotency keys prevent a second charge. Another event of the invoice would have
# other keys, so each invoice of such a run has one event (see `begin`).
SKEWS = st.sampled_from([0.0, 0.5, -0.5, 30.0, -30.0])


class SimulationMachine(RuleBasedStateMachine):
    """Draws the steps of a run. `teardown` ends the run without further faults, and checks the final invariants."""

    run: Run

    @initialize(
        invoices=st.lists(st.sampled_from([(1,), (1,), (1, 2)]), min_size=1, max_size=3),
        copies=st.integers(1, 2),
        rate=st.sampled_from([UNLIMITED, 600]),
        skews=st.lists(SKEWS, min_size=1, max_size=2),
        poison=st.booleans(),
        order=st.sampled_from([oldest, newest]),
    )
    def begin(
        self, invoices: list[tuple[int, ...]], copies: int, rate: int, skews: list[float], poison: bool, order: Any
    ) -> None:
        logger.disable("app")
        if any(abs(skew) > 1 for skew in skews):
            invoices = [(1,) for _ in invoices]
        one_event_each = all(len(versions) == 1 for versions in invoices)
        self.kinds = sorted(Fault if one_event_each else SAFE_WITH_OTHER_KEYS)
        self.faults = self.workers = self.actions = 0
        scenario = Scenario("random", tuple(invoices), copies, 0, rate=rate, extra_poison=poison)
        self.run = Run(scenario, order)
        # Workers with wrong clocks miss slots, so an attempt may end between its reservations and its first call.
        self.in_time = all(abs(skew) < 1 for skew in skews)
        for skew in skews:
            self._start(skew)

    @rule(times=st.integers(1, 25))
    def goes_on(self, times: int) -> None:
        """Takes the usual next steps."""
        for _ in range(times):
            if not self.run.is_over() and (steps := self._steps()):  # there are no steps if no process is alive
                self._take(steps[0])

    @rule(number=st.integers(0, 30), times=st.integers(1, 6))
    def another_goes_first(self, number: int, times: int) -> None:
        """Takes other steps than the usual ones."""
        for _ in range(times):
            if not self.run.is_over() and (steps := self._steps()):
                self._take(steps[number % len(steps)])

    @precondition(lambda self: self.faults < MOST_FAULTS)
    @rule(number=st.integers(0, 30), kind=st.sampled_from(sorted(Fault)))
    def a_fault_happens(self, number: int, kind: Fault) -> None:
        """Makes a fault hit one of the pending calls."""
        steps = [step for step in self._steps(1) if step.fault is kind and kind in self.kinds]
        if steps and not self.run.is_over():
            self.faults += 1
            self._take(steps[number % len(steps)])

    @rule(event=st.integers(0, 5))
    def an_event_is_delivered_again(self, event: int) -> None:
        bodies = self.run.bodies
        self.run.send(bodies[event % len(bodies)])

    @precondition(lambda self: self.workers < MOST_WORKERS)
    @rule()
    def a_worker_starts(self) -> None:
        self._start(0.0)

    @precondition(lambda self: self.actions < MOST_ACTIONS)
    @rule(chosen=st.sampled_from(ACTIONS))
    def an_actor_acts(self, chosen: Action) -> None:
        if chosen.subject(self.run) is not None:
            self.actions += 1
            act(self.run, chosen)
            self.run.check()

    def teardown(self) -> None:
        if not hasattr(self, "run"):
            return
        try:
            if not any(one.state is not State.DEAD for one in self.run.world.processes if one.name.startswith("W")):
                self._start(0.0)
            while not self.run.is_over():
                self._take(self._steps()[0])
            self.run.audit.check_end()
            if self.run.facts.acted and self.in_time:
                check_recovery(self.run)
        except Violation:
            self._show()
            raise
        finally:
            self.run.world.end()
            logger.enable("app")

    def _start(self, skew: float) -> None:
        self.workers += 1
        self.run.start_worker(f"W{self.workers}", skew, random.Random(self.workers).uniform)  # noqa: S311  # no secret

    def _steps(self, faults: int = 0) -> list[Step]:
        return self.run.world.steps(ANY_NUMBER, faults)

    def _take(self, step: Step) -> None:
        try:
            self.run.world.take(step)
            self.run.check()
        except Violation:
            self._show()
            raise

    def _show(self) -> None:
        """Shows the list of calls with the failure."""
        for one in self.run.world.trace:
            note(str(one))


def search_randomly(examples: int, number: int, steps: int = 30) -> None:
    """Draws `examples` runs from the seed `number`. Raises Violation with a shrunk list of calls."""
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    run_state_machine_as_test(seed(number)(SimulationMachine), settings=chosen)


def first_violation() -> tuple[str | None, int]:
    """Returns the first violation of 300 random runs, and how many runs there were."""
    runs = 0

    class Counted(SimulationMachine):
        def teardown(self) -> None:
            nonlocal runs
            runs += 1
            super().teardown()

    chosen = settings(
        max_examples=300,
        stateful_step_count=30,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    try:
        run_state_machine_as_test(seed(1)(Counted), settings=chosen)
    except Violation as violation:
        return str(violation), runs
    return None, runs


__all__ = ["Kind", "SimulationMachine", "first_violation", "search_randomly"]
