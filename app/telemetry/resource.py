"""Who sends: OpenTelemetry's resource, and when it is switched on. OTEL_SERVICE_NAME and the like belong to the SDK."""

import os
from typing import TYPE_CHECKING
from uuid import uuid4

from app import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

SERVICE = "invoice-webhook"


def otlp_wanted(signal: str) -> bool:
    """Whether the environment names a collector for `signal`, METRICS or TRACES; reads no more than that.

    https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
    """
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if os.environ.get(f"OTEL_{signal}_EXPORTER", "otlp") != "otlp":
        return False
    return any(os.environ.get(f"OTEL_EXPORTER_OTLP_{name}") for name in ("ENDPOINT", f"{signal}_ENDPOINT"))


def service_resource() -> "Resource":
    """From OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES; our own name, version and an instance's id where none is."""
    from opentelemetry.sdk.resources import Resource  # not imported unless it is switched on

    found = Resource.create()
    ours = {"service.name": SERVICE, "service.version": __version__, "service.instance.id": str(uuid4())}
    given = dict(found.attributes)
    if str(given["service.name"]).startswith("unknown_service"):
        del given["service.name"]
    return Resource({**ours, **given}, found.schema_url)
