"""How a 200 is serialised: what APP_RESPONSE names, as arguments of `add_api_route`.

`json` is as published: jsonable_encoder, then json.dumps. `orjson` is FastAPI's former ORJSONResponse, deprecated since
pydantic-core serialises a declared return type directly (`model`).
"""

from typing import Any

import orjson
from fastapi.responses import JSONResponse

from app.web.webhook import Answer


class OrjsonResponse(JSONResponse):
    """orjson.dumps in place of json.dumps; jsonable_encoder still runs before it."""

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


RESPONSES: dict[str, dict[str, Any]] = {
    "json": {"response_model": None, "response_class": JSONResponse},
    "orjson": {"response_model": None, "response_class": OrjsonResponse},
    "model": {"response_model": Answer},
}
