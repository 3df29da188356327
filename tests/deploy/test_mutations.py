"""Each rule can fail: mutations of the rendered manifests that violate it must be found."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.deploy import keda, policy
from tests.deploy.mutations import MUTATIONS
from tests.deploy.rendering import rendered
from tests.deploy.test_manifests import RULES


@pytest.mark.parametrize(("rule", "mutate"), [(rule, mutate) for rule, some in MUTATIONS.items() for mutate in some])
def test_rules_can_fail(rule: Callable[..., Any], mutate: Callable[[list[Any]], None]) -> None:
    """Each mutation violates its rule."""
    objects = deepcopy(rendered("kind", ("keda",) if rule in (keda.schema, keda.scaler) else ()))
    mutate(objects)
    assert list(rule(objects)) != []


def test_resources_can_fail() -> None:
    """The rule finds an unexpected limit, and a missing one."""
    assert list(policy.resources(rendered("kind", ("cpu-cap",)), capped=False)) != []
    assert list(policy.resources(rendered("kind", ()), capped=True)) != []


def test_no_rule_is_left_out() -> None:
    """A rule without a mutation might never fail."""
    assert set(MUTATIONS) == set(RULES)
