"""How a 200 is serialised: what APP_RESPONSE names, as arguments of `add_api_route`.

`json` is as published: jsonable_encoder, then json.dumps. `orjson` is FastAPI's former ORJSONResponse, deprecated since
pydantic-core serialises a declared return type directly (`model`).
"""

from typing import Any

import orjson
from fastapi.responses import JSONResponse

from app.settings import Release
from app.web.webhook import answer_of


class OrjsonResponse(JSONResponse):
    """orjson.dumps in place of json.dumps; jsonable_encoder still runs before it."""

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


_CLASSES: dict[str, type[JSONResponse]] = {"json": JSONResponse, "orjson": OrjsonResponse}


def as_named(response: str, release: Release) -> dict[str, Any]:
    """Arguments of `add_api_route` for APP_RESPONSE=`response`."""
    if response == "model":
        return {"response_model": answer_of(release)}
    return {"response_model": None, "response_class": _CLASSES[response]}
