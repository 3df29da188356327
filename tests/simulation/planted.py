"""All faults that are planted in the production code."""

from tests.simulation.actor_mutants import ACTOR_MUTANTS
from tests.simulation.blind_mutants import BLIND_MUTANTS
from tests.simulation.connections.mutants import STATE_MUTANTS
from tests.simulation.mutants import MUTANTS
from tests.simulation.webhooks.mutants import PATH_MUTANTS

ALL_MUTANTS = (*MUTANTS, *ACTOR_MUTANTS, *BLIND_MUTANTS, *PATH_MUTANTS, *STATE_MUTANTS)
