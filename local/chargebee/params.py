"""Reads the parameters of requests.

The functions raise ApiError (400, `param_wrong_value`) if a parameter is wrong. The message is like Chargebee's.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import orjson

from local.chargebee.api_errors import wrong_value

_NUMBER = re.compile(r"-?[0-9]{1,18}")
Resource = TypeVar("Resource")


def number(params: Mapping[str, str], name: str, least: int, most: int, default: int | None) -> int:
    """Returns the parameter `name`, which must be a number from `least` to `most`.

    If the request has no such parameter, returns `default`, or raises ApiError if `default` is None.
    """
    given = params.get(name, "")
    if not given:
        if default is None:
            raise wrong_value(name, "cannot be blank")
        return default
    if not _NUMBER.fullmatch(given):
        raise wrong_value(name, "should be a number")
    value = int(given)
    if value < least:
        raise wrong_value(name, f"must be {least} or more")
    if value > most:
        raise wrong_value(name, f"must be {most} or less")
    return value


def text(params: Mapping[str, str], name: str, longest: int) -> str:
    """Returns the parameter `name`, which is required and must have at most `longest` characters."""
    given = params.get(name, "")
    if not given:
        raise wrong_value(name, "cannot be blank")
    if len(given) > longest:
        raise wrong_value(name, f"cannot have more than {longest} characters")
    return given


def offset(params: Mapping[str, str], name: str) -> list[str]:
    """Returns the two values in the parameter `name`, such as `["1785535200000","300"]`.

    The client has copied the parameter from the `next_offset` of the previous page. A request for the first page has no
    such parameter; the returned list is then empty.
    """
    if not (given := params.get(name)):
        return []
    values = several(params, name)
    if len(values) != len(("position", "tie")) or not values[-1]:
        raise wrong_value(name, f"is not the next_offset of an earlier answer: {given}")
    return values


def page(found: Sequence[Resource], params: Mapping[str, str], shown: Callable[[Resource], bytes]) -> bytes:
    """Returns a page of `found` in the format of Chargebee's list operations, such as List Invoices.

    `limit` and `offset` in `params` choose the page. `shown` converts a resource to JSON.
    """
    limit = number(params, "limit", 1, 100, 10)
    position = offset(params, "offset")
    if position and not position[-1].isdecimal():
        raise wrong_value("offset", "is not the next_offset of an earlier answer")
    start = int(position[-1]) if position else 0
    result: dict[str, Any] = {"list": [orjson.Fragment(shown(one)) for one in found[start : start + limit]]}
    if start + limit < len(found):
        result["next_offset"] = orjson.dumps(["next", str(start + limit)]).decode()
    return orjson.dumps(result)


def matches(name: str, operator: str, params: Mapping[str, str]) -> Callable[[str], bool]:
    """Returns a function that checks whether a text passes the filter `name`, such as `status[in]`.

    `operator` is the part of `name` in brackets, such as `in`. The function compares the text with the value or values
    in the parameter `name`. Raises ApiError if the operator is not supported.
    """
    values = frozenset(several(params, name) if operator in {"in", "not_in"} else [params[name]])
    if operator in {"is", "in"}:
        return lambda text: text in values
    if operator in {"is_not", "not_in"}:
        return lambda text: text not in values
    raise wrong_value(name, f"the operator {operator} is not supported")


def several(params: Mapping[str, str], name: str) -> list[str]:
    """Returns the values of the list in the parameter `name`.

    The list is JSON, or has the format in which Chargebee's Python SDK sends lists: `['a', 'b']`.
    """
    given = params[name]
    values = None
    # If `given` is valid JSON, the second pass uses it unchanged, because an id may contain an apostrophe.
    for candidate in (given.replace("'", '"'), given):
        with suppress(ValueError):
            values = json.loads(candidate)
    if not isinstance(values, list) or not all(isinstance(value, str | int) for value in values):
        raise wrong_value(name, 'should be a list, as in ["a","b"]')
    return [str(value) for value in values]
