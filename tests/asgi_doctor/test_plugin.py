"""The arguments of `no_blocking`. That it finds blocks is tested with the installed wheel."""

from types import SimpleNamespace
from typing import Any

import pytest

from asgi_doctor.plugin import _limit


def _item(*arguments: Any, **named: Any) -> Any:
    mark = SimpleNamespace(args=arguments, kwargs=named)  # the plugin, which registers the mark, is not installed here
    config = SimpleNamespace(getini=lambda name: {"no_blocking_limit": "0.05"}[name])
    return SimpleNamespace(nodeid="test_shop.py::test_pay", config=config, get_closest_marker=lambda name: mark)


@pytest.mark.parametrize(
    ("item", "limit"), [(_item(limit=0.2), 0.2), (_item(0.2), 0.2), (_item(), 0.05)], ids=["named", "first", "default"]
)
def test_the_limit(item: Any, limit: float) -> None:
    """The limit has a name or a position, or is the option's."""
    assert _limit(item) == limit


@pytest.mark.parametrize(
    ("item", "error"),
    [
        pytest.param(_item(seconds=5), "unexpected keyword argument 'seconds'", id="another name"),
        pytest.param(_item(limit=0), "0.0: allowed is a number of seconds, from 0.01 to 60", id="zero"),
        pytest.param(_item(limit=-1), "-1.0: allowed is a number of seconds, from 0.01 to 60", id="negative"),
        pytest.param(_item(0.1, 0.2), "takes from 0 to 1 positional arguments but 2 were given", id="two"),
        pytest.param(_item("fast"), "could not convert string to float: 'fast'", id="text"),
    ],
)
def test_a_limit_that_is_not_allowed(item: Any, error: str) -> None:
    """A mark that watches nothing, or with a limit that every line exceeds, is an error before the tests run."""
    with pytest.raises(pytest.UsageError) as raised:
        _limit(item)
    assert str(raised.value).startswith("test_shop.py::test_pay: no_blocking(limit=SECONDS): ")
    assert str(raised.value).endswith(error)
