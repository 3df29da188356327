"""Serves Swagger UI at /docs from local files, so that it works offline and sends nothing to a third party.

FastAPI's own page loads Swagger UI from a CDN and starts it with an inline script. The files come from fastapi-offline,
which is in the dependency group `local` and not in the image.
"""

from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, Response

from app.errors import ConfigurationError

# The paths are relative, so that the page also works behind a proxy that adds a prefix.
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>invoice-webhook</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</html>
"""
# With the default of validatorUrl, the page would send the document's address to Swagger's online validator.
_START = """SwaggerUIBundle({ url: "openapi.json", dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null })
"""
HEADERS = {
    # `data:` allows the icons in Swagger UI's style sheet.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
_MEDIA_TYPES = {"swagger-ui-bundle.js": "text/javascript", "swagger-ui.css": "text/css"}


def assets() -> dict[str, Path]:
    """Returns the paths of Swagger UI's files by name. Raises ConfigurationError if they are not installed."""
    spec = find_spec("fastapi_offline")
    if spec is None or spec.origin is None:
        raise ConfigurationError(
            "APP_DOCS=1: Swagger UI is not installed; allowed is 0, or to install fastapi-offline"
            " (the dependency group `local`: requirements-local.lock)"
        )
    return {name: Path(spec.origin).parent / "static" / name for name in _MEDIA_TYPES}


def add_docs(app: FastAPI) -> None:
    """Adds the page and its assets at /docs. FastAPI serves /openapi.json itself. Raises ConfigurationError."""
    files = assets()

    async def page(request: Request) -> Response:
        return HTMLResponse(_PAGE, headers=HEADERS)

    async def start(request: Request) -> Response:
        return Response(_START, media_type="text/javascript", headers=HEADERS)

    async def file(request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        return FileResponse(files[name], media_type=_MEDIA_TYPES[name], headers=HEADERS)

    app.add_route("/docs", page, include_in_schema=False)
    app.add_route("/docs/start.js", start, include_in_schema=False)
    for name in files:
        app.add_route(f"/docs/{name}", file, include_in_schema=False)
