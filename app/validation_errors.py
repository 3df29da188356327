"""Translates validation errors of a body into InvalidEvent, which contains no values of the body."""

import json
from typing import NoReturn

from pydantic import ValidationError

from app.errors import FieldError, InvalidEvent

# The message of jiter, pydantic's parser, for a value nested deeper than 201 levels.
_TOO_DEEP = "Invalid JSON: recursion limit exceeded"


def refuse(error: ValidationError) -> NoReturn:
    """Raises InvalidEvent with the errors that pydantic found."""
    errors: list[FieldError] = [
        {"loc": list(found["loc"]), "msg": found["msg"], "type": found["type"]}
        for found in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    first = errors[0]
    if first["type"] != "json_invalid":
        detail = "The body is not a Chargebee event"
    elif first["msg"].startswith(_TOO_DEEP):
        # The body may still be valid JSON: the parser stopped after 201 levels and did not read the rest.
        first["type"], first["msg"] = "json_too_deep", first["msg"].replace("Invalid JSON", "JSON nested too deeply", 1)
        detail = "The body is nested too deeply"
    else:
        detail = "The body is not JSON"
    raise InvalidEvent(detail, errors) from None


def refuse_constants(body: bytes) -> None:
    """Raises InvalidEvent if the body has NaN or Infinity as a value. Both words are allowed inside a string."""

    def constant(name: str) -> NoReturn:
        error: FieldError = {"loc": [], "msg": f"Invalid JSON: {name} is not a JSON number", "type": "json_invalid"}
        raise InvalidEvent("The body is not JSON", [error])

    json.loads(body, parse_constant=constant)
