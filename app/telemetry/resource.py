"""Creates OpenTelemetry's resource, which describes this process, and checks if OTLP is switched on."""

import os
from typing import TYPE_CHECKING
from uuid import uuid4

from app import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

SERVICE = "invoice-webhook"


def otlp_wanted(signal: str) -> bool:
    """Returns True if OTLP is switched on for `signal` (METRICS or TRACES) and a variable names a collector.

    The SDK reads the other OTEL_ variables:
    https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
    """
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if (os.environ.get(f"OTEL_{signal}_EXPORTER") or "otlp") != "otlp":
        return False
    return any(os.environ.get(f"OTEL_EXPORTER_OTLP_{name}") for name in ("ENDPOINT", f"{signal}_ENDPOINT"))


def service_resource() -> "Resource":
    """Returns the attributes in OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, with defaults for missing ones."""
    from opentelemetry.sdk.resources import Resource  # imported only if metrics or traces go to a collector

    found = Resource.create()
    defaults = {"service.name": SERVICE, "service.version": __version__, "service.instance.id": str(uuid4())}
    given = dict(found.attributes)
    if str(given["service.name"]).startswith("unknown_service"):
        del given["service.name"]
    return Resource({**defaults, **given}, found.schema_url)
