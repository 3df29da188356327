"""Reads settings, and formats them as text for error messages, `--help` and docs/settings.md, without secrets."""

import difflib
import os
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings

from app.errors import ConfigurationError

_Settings = TypeVar("_Settings", bound=BaseSettings)
OTHERS = ("APP_LAB_", "APP_LOCAL_")  # prefixes of the variables that `python -m lab` and `python -m local` read


def variable(name: str, prefix: str = "APP_") -> str:
    """Returns the name of a setting's environment variable: `APP_PORT` for `port`."""
    return f"{prefix}{name.upper()}"


def prefix_of(settings: type[BaseSettings]) -> str:
    """Returns the prefix of the variables of `settings`: `APP_`, `APP_LOCAL_` or `APP_LAB_`."""
    return str(settings.model_config["env_prefix"])


def _kinds(field: FieldInfo) -> tuple[Any, ...]:
    """Returns the types that a field accepts besides None."""
    options = get_args(field.annotation) if get_origin(field.annotation) not in (Literal, frozenset) else ()
    return tuple(option for option in options if option is not NoneType) or (field.annotation,)


def allowed(field: FieldInfo) -> str:
    """Returns the allowed values of a setting as text, such as `0 to 65,535` or `uvloop, asyncio`."""
    if isinstance(field.json_schema_extra, dict) and "allowed" in field.json_schema_extra:
        return str(field.json_schema_extra["allowed"])
    (kind,) = _kinds(field)
    if get_origin(kind) is Literal:
        return ", ".join(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return ", ".join(kind)
    return "0, 1" if kind is bool else _range(field)


def _range(field: FieldInfo) -> str:
    lowest = next((f"{bound.ge:,}" for bound in field.metadata if isinstance(bound, Ge)), None)
    above = next((f"{bound.gt:,}" for bound in field.metadata if isinstance(bound, Gt)), None)
    highest = next((f"{bound.le:,}" for bound in field.metadata if isinstance(bound, Le)), None)
    if highest:
        return f"{lowest} to {highest}" if lowest else f"more than {above}, at most {highest}"
    return f"{lowest} or more" if lowest else "any text"


def shown(value: str) -> str:
    """Returns `value` in one line for a message, or `(hidden)` if it may be a URL that contains secrets."""
    if re.search(r"@|://.*[?#]", value, re.DOTALL):
        return "(hidden)"
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in value)


def http_url(host: str, port: int) -> str:
    """Returns the http URL of `host` and `port`, with brackets around an IPv6 address."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def masked(text: str) -> str:
    """Returns `text`, for example another library's error message, with the credentials in its URLs masked."""
    return re.sub(r"://\S*@", "://***@", text)


def error_line(settings: type[BaseSettings], error: ErrorDetails) -> str:
    """Returns the error line for one wrong value. The line does not show secrets."""
    if not error["loc"]:
        return error["msg"].removeprefix("Value error, ")
    name = str(error["loc"][0])
    field, in_environment = settings.model_fields[name], variable(name, prefix_of(settings))
    # If an item of a list is wrong, `input` is only this item, so the variable's whole value is read again.
    given = str(error["input"]) if len(error["loc"]) == 1 else os.environ.get(in_environment, "")
    value = "(hidden)" if given and SecretStr in _kinds(field) else shown(given)
    return f"{in_environment}={value}: allowed is {allowed(field)}"


def error_lines(settings: type[BaseSettings], error: ValidationError) -> list[str]:
    """Returns one error line per wrong variable, even if several items of a list are wrong."""
    first = {found["loc"][:1]: found for found in reversed(error.errors())}
    return [error_line(settings, found) for found in reversed(first.values())]


def read(settings: type[_Settings], known: Iterable[type[BaseSettings]], **given: Any) -> _Settings:
    """Returns the settings from the environment. Raises ConfigurationError, with a line for each wrong variable.

    `given`: values that take precedence over the environment. `known`: all classes of settings with the same prefix; a
    variable with this prefix that is in none of them is unknown. The error reports only the first kind of mistake that
    is found: unknown variables, wrong values, or a contradiction.
    """
    if unknown := list(unknown_variables(os.environ, known)):
        raise ConfigurationError("\n".join(unknown))
    try:
        return settings(**given)
    except ValidationError as error:
        raise ConfigurationError("\n".join(error_lines(settings, error))) from None


def unknown_variables(environ: Iterable[str], settings: Iterable[type[BaseSettings]]) -> Iterator[str]:
    """Yields an error line for each variable that is not a setting although it has the prefix of `settings`.

    All classes in `settings` must have the same prefix.
    """
    prefix, *_ = map(prefix_of, settings)
    known = [variable(name, prefix) for one in settings for name in one.model_fields]
    for name in sorted(environ):
        if not name.upper().startswith(prefix) or name in known or (prefix == "APP_" and name.startswith(OTHERS)):
            continue
        guess = difflib.get_close_matches(name.upper(), known, n=1)
        yield f"{name} is not a setting: {f'did you mean {guess[0]}?' if guess else 'see --help'}"


def listing(settings: type[BaseSettings]) -> str:
    """Returns the text of all settings for `--help`, with two lines per variable."""
    lines = []
    for name, field in settings.model_fields.items():
        brackets = f" [{default(field.default)}]" if field.default is not None else ""
        lines += [f"  {variable(name, prefix_of(settings))}{brackets}: {allowed(field)}", f"      {field.description}"]
    return "\n".join(lines)


def default(value: Any) -> str:
    """Returns the default `value` in the format of an environment variable."""
    if isinstance(value, bool):
        return str(int(value))
    return ",".join(sorted(value)) if isinstance(value, frozenset) else str(value)
