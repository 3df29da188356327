"""Evaluates the part of DynamoDB's expression language that the billing work uses.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
test_table.py compares the results with the results of the embedded DynamoDB.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

Attribute = Mapping[str, Any]
Item = dict[str, Any]
Names = Mapping[str, str]
Values = Mapping[str, Attribute]
Operand = Callable[[Item, Names, Values], Attribute | None]
Condition = Callable[[Item, Names, Values], bool]

_TOKEN = re.compile(r"\s*(#\w+|:\w+|\w+|<=|>=|[=<>(),+-])")


class Invalid(Exception):
    """DynamoDB would answer ValidationException."""


def tokens(expression: str) -> list[str]:
    found = _TOKEN.findall(expression)
    assert "".join(found) == re.sub(r"\s", "", expression), f"cannot read {expression!r}"
    return list(found)


def operand(token: str) -> Operand:
    """Returns a function that finds the attribute or the value that `token` names."""
    if token.startswith(":"):
        return lambda _item, _names, values: values[token]
    if token.startswith("#"):
        return lambda item, names, _values: item.get(names[token])
    return lambda item, _names, _values: item.get(token)


def comparable(attribute: Attribute) -> Any:
    """Returns the value of an attribute in Python's order: numbers by size, strings by their bytes in UTF-8."""
    [(kind, value)] = attribute.items()
    return Decimal(value) if kind == "N" else value.encode() if kind == "S" else value


def _compared(compare: Callable[[Any, Any], bool], *operands: Operand) -> Condition:
    """Returns a condition that is False if an operand is missing, or if the types of the operands differ."""

    def met(item: Item, names: Names, values: Values) -> bool:
        found = [one(item, names, values) for one in operands]
        present = [one for one in found if one is not None]
        if len(present) < len(found) or len({next(iter(one)) for one in present}) > 1:
            return False
        return compare(comparable(present[0]), [comparable(one) for one in present[1:]])

    return met


_COMPARATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda left, right: bool(left == right[0]),
    "<": lambda left, right: bool(left < right[0]),
    "<=": lambda left, right: bool(left <= right[0]),
    ">": lambda left, right: bool(left > right[0]),
    ">=": lambda left, right: bool(left >= right[0]),
}


class _Parser:
    def __init__(self, expression: str) -> None:
        self._tokens = tokens(expression)[::-1]

    def whole(self) -> Condition:
        found = self._any()
        assert not self._tokens, "the expression continues"
        return found

    def _next(self, wanted: str | None = None) -> str:
        token = self._tokens.pop()
        assert wanted in (None, token), f"{wanted} is missing"
        return token

    def _sees(self, token: str) -> bool:
        return bool(self._tokens) and self._tokens[-1] == token

    def _any(self) -> Condition:
        parts = [self._all()]
        while self._sees("OR"):
            self._next()
            parts.append(self._all())
        return lambda *given: any(part(*given) for part in parts)

    def _all(self) -> Condition:
        parts = [self._not()]
        while self._sees("AND"):
            self._next()
            parts.append(self._not())
        return lambda *given: all(part(*given) for part in parts)

    def _not(self) -> Condition:
        if not self._sees("NOT"):
            return self._one()
        self._next()
        inner = self._not()
        return lambda *given: not inner(*given)

    def _one(self) -> Condition:
        token = self._next()
        if token == "(":
            inner = self._any()
            self._next(")")
            return inner
        if self._sees("("):
            return _function(token, self._arguments())
        left, operator = operand(token), self._next()
        if operator == "BETWEEN":
            low = operand(self._next())
            self._next("AND")
            return _compared(lambda value, ends: bool(ends[0] <= value <= ends[1]), left, low, operand(self._next()))
        if operator == "IN":
            one_of = [_compared(_COMPARATORS["="], left, operand(token)) for token in self._arguments()]
            return lambda *given: any(equal(*given) for equal in one_of)
        return _compared(_COMPARATORS[operator], left, operand(self._next()))

    def _arguments(self) -> list[str]:
        self._next("(")
        found = [self._next()]
        while self._sees(","):
            self._next()
            found.append(self._next())
        self._next(")")
        return found


def _function(name: str, arguments: list[str]) -> Condition:
    found = operand(arguments[0])
    match name:
        case "attribute_exists":
            return lambda *given: found(*given) is not None
        case "attribute_not_exists":
            return lambda *given: found(*given) is None
        case "attribute_type":
            kind = operand(arguments[1])
            return lambda *given: (kind(*given) or {})["S"] in (found(*given) or {})
        case "begins_with":
            start = operand(arguments[1])
            return lambda *given: str((found(*given) or {}).get("S", "")).startswith((start(*given) or {})["S"])
    raise AssertionError(f"the function {name} is not simulated")


@cache
def condition(expression: str) -> Condition:
    """Returns the condition that `expression` describes."""
    return _Parser(expression).whole()
