"""Defines how a record's class names its values in logs, metrics and spans, and reads the values for logs and spans.

The class annotates a field with a `Named` for each value that it declares: `Annotated[str | None, Named("cause")]`.
"""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, get_type_hints


class Metric(NamedTuple):
    """A metric of one value: a histogram if it has `bounds`, otherwise a counter.

    `label`: the name of the counter's label, or empty if the counter has none. A counter without a label sums the
    values. A counter with a label counts the records that have the same value, and the label contains this value.
    `system`: the name of the service whose calls are measured, or empty for a metric of webhooks or messages. In
    `name`, {} stands for the service's prefix (see `System`).
    """

    name: str
    unit: str
    text: str
    bounds: tuple[float, ...] = ()
    label: str = ""
    system: str = ""


class Named(NamedTuple):
    """The names of one value in the log and in the span, and the value's metric.

    If `log` is empty, the log does not contain the value; if `span` is empty, the span does not. `path`: the dotted
    path from the record to the value, if the value is not the field itself. `decimals`: the number of decimals in the
    log. `usual`: the type of a value that most records have and that needs no escape sequences in JSON, otherwise None
    (see `compiled_line`). In `span`, {} stands for the prefix of the service that was called.
    """

    log: str = ""
    span: str = ""
    path: str = ""
    decimals: int | None = None
    usual: type | None = None
    metric: Metric | None = None


class Field(NamedTuple):
    """One value that a record's class declares. `attribute`: the name of the class's field that contains the value.

    `value`: a function that reads the value from a record. It returns None if the record does not have the value.
    """

    attribute: str
    path: str
    named: Named
    value: Callable[[Any], Any]


@cache
def declared(record: type) -> list[Field]:
    """Returns the values that a record's class declares, in the order of the class's fields."""
    hints = get_type_hints(record, include_extras=True)
    return [
        Field(field.name, path := named.path or field.name, named, _reader(attrgetter(field.name), attrgetter(path)))
        for field in fields(record)
        for named in getattr(hints[field.name], "__metadata__", ())
    ]


def _reader(attribute: Callable[[Any], Any], path: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda record: None if attribute(record) is None else path(record)


def log_fields(record: object) -> dict[str, Any]:
    """Returns the fields of a record's log line. Of the payload, they contain only the event's id and type."""
    found: dict[str, Any] = {}
    for one in declared(record.__class__):  # type: ignore[arg-type]  # every class is hashable
        if one.named.log and (value := one.value(record)) is not None:
            found[one.named.log] = value if one.named.decimals is None else round(value, one.named.decimals)
    return found


def span_attributes(record: object, prefix: str = "") -> dict[str, Any]:
    """Returns the attributes of a record's span. Leaves out values that are None, 0, False or empty."""
    named = [one for one in declared(record.__class__) if one.named.span]  # type: ignore[arg-type]  # every class is hashable
    return {one.named.span.format(prefix): value for one in named if (value := one.value(record))}


# For each type of value: a %-format for the log line, and the Python expression whose result is formatted.
# In the format, {} stands for the number of decimals. In the expression, {} stands for the value.
_JSON = {str: ('"%s"', "{}"), float: ("%.{}f", "{}"), bool: ("%s", '"true" if {} else "false"')}


def compiled_line(record: type, message: str) -> Callable[[Any, str], str | None]:
    """Returns a function that formats a record's log line faster than orjson, because it builds no dict.

    The returned function takes a record and the time as text. It returns None if the record lacks a usual value (see
    `Named.usual`) or has another logged value. The caller must then format the line in another way.
    """
    logged = [one for one in declared(record) if one.named.log]
    conditions = {f"record.{one.attribute} is {'not ' if one.named.usual else ''}None" for one in logged}
    line, values = f'{{"time":"%s","level":"INFO","message":"{message} %s"', ["now", "record.outcome"]
    for one in logged:
        if one.named.usual is not None:
            text, value = _JSON[one.named.usual]
            line += f',"{one.named.log}":{text.format(one.named.decimals)}'
            values.append(value.format(f"record.{one.path}"))
    source = f"{line + '}' + chr(10)!r} % ({', '.join(values)}) if {' and '.join(sorted(conditions))} else None"
    return eval(f"lambda record, now: {source}")  # type: ignore[no-any-return]  # noqa: S307  # declarations, no input
