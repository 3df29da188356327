"""Credentials that can be guessed stay out of the overlay for AWS."""

from copy import deepcopy

import pytest

from tests.deploy import policy
from tests.deploy.credentials import guessable
from tests.deploy.rendering import COMBINATIONS, rendered


@pytest.mark.parametrize("components", [parts for overlay, parts in COMBINATIONS if overlay == "aws"])
def test_no_credentials_to_guess_on_aws(components: tuple[str, ...]) -> None:
    """The overlay for AWS has neither demo's password nor a short one. The overlay for kind has demo's."""
    assert list(guessable(rendered("aws", components))) == []
    assert list(guessable(rendered("kind", components))) == ["APP_BASIC_AUTH_PASSWORD can be guessed"]


@pytest.mark.parametrize("given", [{"USERNAME": "demo", "PASSWORD": "demo"}, {"PREVIOUS_PASSWORD": "short"}], ids=str)
@pytest.mark.parametrize("kind", ["Secret", "ConfigMap", "Deployment"])
def test_credentials_to_guess_are_found(kind: str, given: dict[str, str]) -> None:
    """The rule finds such credentials in each kind of object that may have them."""
    variables = {f"APP_BASIC_AUTH_{name}": value for name, value in given.items()}
    objects = deepcopy(rendered("aws", ()))
    assert list(guessable(objects)) == []
    if kind == "Deployment":
        env = [{"name": name, "value": value} for name, value in variables.items()]
        policy.container(policy.named(objects, kind, "web"))["env"] = env
    else:
        objects.append(
            {"kind": kind, "metadata": {"name": "x"}, "stringData" if kind == "Secret" else "data": variables}
        )
    assert list(guessable(objects)) != []
