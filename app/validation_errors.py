"""Translates validation errors of a webhook's body into InvalidEvent, which contains no values of the body."""

import json
from typing import NoReturn

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from app.errors import FieldError, InvalidEvent
from app.unreadable import REASONS

_NO_JSON = "json_invalid"  # pydantic's error type for a body that is not JSON
# The message of jiter, pydantic's parser, for a value nested deeper than 201 levels.
_TOO_DEEP = "Invalid JSON: recursion limit exceeded"


def is_no_json(error: ValidationError) -> bool:
    """Returns True if pydantic's parser cannot parse the body, and False if the body is JSON with invalid fields."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return first["type"] == _NO_JSON


def refuse(error: ValidationError) -> NoReturn:
    """Raises InvalidEvent with the errors that pydantic found."""
    errors = [_field_error(found) for found in error.errors(include_url=False, include_context=False)]
    first = errors[0]
    if first["type"] != _NO_JSON:
        detail = "The body is not a Chargebee event"
    elif first["msg"].startswith(_TOO_DEEP):
        # The body may still be valid JSON: the parser stopped after 201 levels and did not read the rest.
        first["type"], first["msg"] = "json_too_deep", first["msg"].replace("Invalid JSON", "JSON nested too deeply", 1)
        detail = "The body is nested too deeply"
    else:
        detail = "The body is not JSON"
    raise InvalidEvent(detail, errors) from None


def _field_error(found: ErrorDetails) -> FieldError:
    kind, message = found["type"], found["msg"]
    if isinstance(found["input"], float):
        kind, message = REASONS.get(found["input"], (kind, message))
    return {"loc": list(found["loc"]), "msg": message, "type": kind}


def refuse_constants(body: bytes) -> None:
    """Raises InvalidEvent if the body has NaN or Infinity as a value. Both words are allowed inside a string."""

    def constant(name: str) -> NoReturn:
        error: FieldError = {"loc": [], "msg": f"Invalid JSON: {name} is not a JSON number", "type": _NO_JSON}
        raise InvalidEvent("The body is not JSON", [error])

    json.loads(body, parse_constant=constant)
