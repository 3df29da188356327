"""Adds to the OpenAPI document what FastAPI cannot infer from handlers that read the raw body.

These are the schema of the body, the error responses, and Basic authentication.
"""

from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import models_json_schema

from app.events import Event, UnwantedEvent
from app.settings import Release
from app.web.answers import Answer
from app.web.middleware import PATH

router = APIRouter()
_REF = "#/components/schemas/{model}"


@router.post(PATH)
async def receive() -> Answer:
    """Documents the webhook of a release that handles webhooks without FastAPI. No request reaches this handler."""
    raise RuntimeError("This release handles webhooks without FastAPI, under `python -m app web`")


class Problem(BaseModel):
    """An error response in the format of RFC 9457. Only a 422 has `errors`."""

    model_config = ConfigDict(extra="forbid")

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] = []


def _problem(description: str) -> dict[str, Any]:
    schema = {"$ref": _REF.format(model="Problem")}
    return {"description": description, "content": {"application/problem+json": {"schema": schema}}}


_REFUSED = {
    "401": _problem("The Basic credentials are missing or wrong"),
    "408": _problem("The body was not complete in time"),
    "413": _problem("The body is too long"),
    "415": _problem("The request has a Content-Encoding other than identity"),
    "422": _problem("The body is not JSON, is nested too deeply, is not an event, or has a character that SQS rejects"),
}


# For each value of `Release.accepted`: the descriptions of the handler, of a 200 and of a 503.
_TEXTS = {
    "queued": (
        "Answers 200 only after SQS has acknowledged the message.",
        "SQS has acknowledged the message",
        "SQS is unreachable or slow, or throttles or rejects calls",
    ),
    "processed": (
        "Answers 200 only after the billing work is done.",
        "The invoice is closed, or the event needs no billing work",
        "DynamoDB or Chargebee is unreachable or slow, or throttles or rejects calls",
    ),
}
_EVENTS = [{"$ref": _REF.format(model=model.__name__)} for model in (Event, UnwantedEvent)]
_EXTRA: dict[str, Any] = {
    "requestBody": {
        "description": "A Chargebee event. If its type is not in APP_EVENT_TYPES, its `content` is not validated",
        "required": True,
        "content": {"application/json": {"schema": {"anyOf": _EVENTS}}},
    },
    "security": [{"basic": []}],
}


def document(app: FastAPI, release: Release) -> dict[str, Any]:
    """Returns the OpenAPI document of `app`, with the descriptions of the webhook that fit `release`."""
    document = get_openapi(title=app.title, version=app.version, routes=app.routes)
    description, accepted, unavailable = _TEXTS[release.accepted]
    webhook = document["paths"][PATH]["post"]
    webhook |= {"summary": "Receive a Chargebee event", "description": description, **_EXTRA}
    webhook["responses"]["200"]["description"] = f"{accepted}, or the service ignores the event's type"
    webhook["responses"] |= _REFUSED | {
        "503": _problem(
            f"{unavailable}, or the process is overloaded or stopping. Chargebee sends the webhook again later"
        )
    }
    _, schemas = models_json_schema(
        [(Event, "validation"), (UnwantedEvent, "validation"), (Problem, "serialization")], ref_template=_REF
    )
    components = document.setdefault("components", {})
    components.setdefault("schemas", {}).update(schemas["$defs"])
    components["securitySchemes"] = {"basic": {"type": "http", "scheme": "basic"}}
    return document
