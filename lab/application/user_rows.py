"""Selects a random user for experiments that query one user."""

import random
from typing import Annotated, Any

from fastapi import Query
from fastapi.exceptions import RequestValidationError

from lab.application.lab_problems import LabUnavailable

FILL_IT = "fill the database of APP_LAB_DATABASE_URL: `python -m lab setup`"
HIGHEST = "SELECT max(id) FROM users"  # user numbers have no gaps, so this is also the number of users

UserId = Annotated[int | None, Query(ge=1, le=2**63 - 1, description="A user's number; without it, a random one's.")]


def highest(row: tuple[Any, ...] | None) -> int:
    """Returns the highest user number from the answer to HIGHEST. Raises LabUnavailable if there are no users."""
    if row is None or row[0] is None:
        raise LabUnavailable(f"There are no users: {FILL_IT}")
    number: int = row[0]
    return number


def pick(most: int, wanted: int | None) -> int:
    """Returns `wanted`, or the number of a random user if `wanted` is None. `most`: the highest number of a user.

    Raises RequestValidationError (422) if no such user exists.
    """
    if wanted is None:
        return random.randint(1, most)  # noqa: S311  # for load, not for secrets
    if wanted > most:
        error = {
            "type": "less_than_equal",
            "loc": ("query", "user_id"),
            "msg": f"Input should be less than or equal to {most}",
            "input": str(wanted),
            "ctx": {"le": most},
        }
        raise RequestValidationError([error])
    return wanted
