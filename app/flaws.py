"""What is wrong with a body, told to its sender: pydantic's errors without the values."""

import json
from typing import NoReturn

from pydantic import ValidationError

from app.errors import Flaw, InvalidEvent

# The message of jiter, pydantic's parser, for a value nested deeper than 200 levels.
_TOO_DEEP = "Invalid JSON: recursion limit exceeded"


def refuse(error: ValidationError) -> NoReturn:
    """Raises InvalidEvent with the flaws of `error`."""
    flaws: list[Flaw] = [
        {"loc": list(flaw["loc"]), "msg": flaw["msg"], "type": flaw["type"]}
        for flaw in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    first = flaws[0]
    if first["type"] != "json_invalid":
        detail = "The body is not a Chargebee event"
    elif first["msg"].startswith(_TOO_DEEP):
        # The rest of it, which the parser has not read, may be valid JSON.
        first["type"], first["msg"] = "json_too_deep", first["msg"].replace("Invalid JSON", "JSON nested too deeply", 1)
        detail = "The body is nested too deeply"
    else:
        detail = "The body is not JSON"
    raise InvalidEvent(detail, flaws) from None


def refuse_constants(body: bytes) -> None:
    """Raises InvalidEvent for NaN or Infinity in place of a number (inside a string it is text)."""

    def constant(name: str) -> NoReturn:
        flaw: Flaw = {"loc": [], "msg": f"Invalid JSON: {name} is not a JSON number", "type": "json_invalid"}
        raise InvalidEvent("The body is not JSON", [flaw])

    json.loads(body, parse_constant=constant)
