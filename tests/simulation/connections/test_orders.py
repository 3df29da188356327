"""With each handler, every order within a small bound has the right states, deadlines and answers."""

import pytest

from tests.simulation.connections.plan import MORE, QUICK, Part
from tests.simulation.connections.search import search


@pytest.mark.parametrize("part", [*QUICK, *(pytest.param(part, marks=pytest.mark.slow) for part in MORE)])
def test_every_order(part: Part) -> None:
    found = search(part.orders())
    assert not found.violations, "\n".join(f"{what}: {order}" for what, (_, order) in found.violations.items())
    assert found.runs > 800
