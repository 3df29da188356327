"""Applies DynamoDB's update expressions: the clauses SET, REMOVE and ADD, as the billing work uses them.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html
"""

import re
from decimal import Decimal
from functools import cache

from tests.simulation.expressions import Attribute, Invalid, Item, Names, Values, operand, tokens

_CLAUSE = re.compile(r"\b(SET|REMOVE|ADD)\b")


@cache
def _clauses(expression: str) -> list[tuple[str, list[list[str]]]]:
    """Returns each clause with its actions. Each action is a list of tokens."""
    parts = _CLAUSE.split(expression)[1:]
    return [
        (name, [tokens(action) for action in actions.split(",")])
        for name, actions in zip(parts[::2], parts[1::2], strict=True)
    ]


def updated(item: Item, expression: str, names: Names, values: Values) -> Item:
    """Returns a changed copy of `item`. Raises Invalid if an operand is missing or is not a number."""
    changed = dict(item)
    for clause, actions in _clauses(expression):
        for action in actions:
            name = names.get(action[0], action[0])
            if clause == "REMOVE":
                changed.pop(name, None)
            elif clause == "ADD":
                changed[name] = _sum(item.get(name, {"N": "0"}), values[action[1]], "+")
            else:
                changed[name] = _assigned(item, action[2:], names, values)
    return changed


def _assigned(item: Item, right: list[str], names: Names, values: Values) -> Attribute:
    found = [operand(token)(item, names, values) for token in right[::2]]
    present = [one for one in found if one is not None]
    if len(present) < len(found):
        raise Invalid("The provided expression refers to an attribute that does not exist in the item")
    return present[0] if len(present) == 1 else _sum(present[0], present[1], right[1])


def _sum(left: Attribute, right: Attribute, operator: str) -> Attribute:
    if "N" not in left or "N" not in right:
        raise Invalid("An operand in the update expression has an incorrect data type")
    change = Decimal(right["N"])
    total = Decimal(left["N"]) + (change if operator == "+" else -change)
    return {"N": f"{total.normalize():f}"}
