"""Creates OpenTelemetry's resource, which describes this process, and checks if OTLP is switched on.

The module also rejects an OTEL_ variable if the service would ignore its value, or if the value would make
OpenTelemetry end the process with a traceback.
"""

import os
from typing import TYPE_CHECKING
from uuid import uuid4

from app import __version__
from app.errors import ConfigurationError
from app.settings.text import shown

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

# The accepted values of each variable. Whatever OTEL_PROPAGATORS is, the service itself reads and passes on only the
# header `traceparent` (`app.telemetry.trace`).
_ALLOWED = {
    "OTEL_PROPAGATORS": ("tracecontext", "baggage", "none"),
    "OTEL_PYTHON_METER_PROVIDER": ("sdk_meter_provider", "default_meter_provider"),
    "OTEL_PYTHON_CONTEXT": ("contextvars_context",),
    "OTEL_PYTHON_TRACER_PROVIDER": ("sdk_tracer_provider", "default_tracer_provider"),
}
_PROTOCOL = "http/protobuf"


def require_installed() -> None:
    """Raises ConfigurationError if a variable names a part of OpenTelemetry that is not installed.

    Call this function before FastAPI is imported: the import loads the propagators, and fails if one is missing.
    """
    for name, allowed in _ALLOWED.items():
        given = os.environ.get(name)
        if given == "":
            del os.environ[name]  # otherwise, each request would search for a provider with an empty name
        if given and not {part.strip() for part in given.split(",")} <= {*allowed}:
            raise ConfigurationError(f"{name}={shown(given)}: allowed are {', '.join(allowed)}")


def otlp_wanted(signal: str) -> bool:
    """Returns True if OTLP is switched on for `signal` (METRICS or TRACES) and a variable names a collector.

    Raises ConfigurationError if a variable names an exporter or a protocol that this service does not have.
    The SDK reads the other OTEL_ variables:
    https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
    """
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = os.environ.get(f"OTEL_{signal}_EXPORTER") or "otlp"
    if exporter not in ("otlp", "none"):
        raise ConfigurationError(f"OTEL_{signal}_EXPORTER={shown(exporter)}: allowed are otlp and none")
    if exporter == "none" or not _set_for(signal, "ENDPOINT"):
        return False
    if (name := _set_for(signal, "PROTOCOL")) and os.environ[name] != _PROTOCOL:
        raise ConfigurationError(f"{name}={shown(os.environ[name])}: allowed is {_PROTOCOL}, as a rule on port 4318")
    return True


def _set_for(signal: str, option: str) -> str | None:
    """Returns the name of the variable that sets `option` of the exporter for `signal`, or None if no variable does."""
    names = (f"OTEL_EXPORTER_OTLP_{signal}_{option}", f"OTEL_EXPORTER_OTLP_{option}")
    return next((name for name in names if os.environ.get(name)), None)


def service_resource() -> "Resource":
    """Returns a resource from OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, with defaults for missing attributes."""
    from opentelemetry.sdk.resources import Resource  # imported only if metrics or traces go to a collector

    found = Resource.create()
    defaults = {"service.name": "invoice-webhook", "service.version": __version__, "service.instance.id": str(uuid4())}
    given = dict(found.attributes)
    if str(given["service.name"]).startswith("unknown_service"):
        del given["service.name"]
    return Resource({**defaults, **given}, found.schema_url)
