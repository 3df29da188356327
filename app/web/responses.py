"""How a 200 becomes JSON: what APP_RESPONSE names, as arguments of `add_api_route`.

`json` is as published: jsonable_encoder, then json.dumps. `orjson` is what FastAPI's ORJSONResponse was, which
is deprecated: since a declared return type lets pydantic-core write the bytes (`model`), it is of no use.
"""

from typing import Any

import orjson
from fastapi.responses import JSONResponse

from app.web.webhook import Answer


class OrjsonResponse(JSONResponse):
    """json.dumps replaced by orjson.dumps; the detour by jsonable_encoder remains."""

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


RESPONSES: dict[str, dict[str, Any]] = {
    "json": {"response_model": None, "response_class": JSONResponse},
    "orjson": {"response_model": None, "response_class": OrjsonResponse},
    "model": {"response_model": Answer},
}
