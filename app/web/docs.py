"""Serves Swagger UI at /docs from local files, so that it works offline and sends nothing to a third party.

FastAPI's own page would load Swagger UI from a CDN and start it with an inline script. This page loads the files of the
package fastapi-offline, which belongs to the dependency group `local`. The Docker image does not contain the package.
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
<meta name="color-scheme" content="light dark">
<title>invoice-webhook</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</html>
"""
# The CSS class `dark-mode` switches on Swagger UI's dark mode. The script sets the class if the browser prefers dark
# colours. By default, Swagger UI sends the address of the OpenAPI document to an online validator. `validatorUrl: null`
# prevents this request.
_START = """const dark = matchMedia("(prefers-color-scheme: dark)")
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches)
dark.addEventListener("change", follow)
follow()
SwaggerUIBundle({ url: "openapi.json", dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null })
"""
HEADERS = {
    # Swagger UI's style sheet contains its icons as `data:` URLs.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
_MEDIA_TYPES = {"swagger-ui-bundle.js": "text/javascript", "swagger-ui.css": "text/css"}


def assets() -> dict[str, Path]:
    """Returns the paths of Swagger UI's files by file name. Raises ConfigurationError if they are not installed."""
    spec = find_spec("fastapi_offline")
    if spec is None or spec.origin is None:
        raise ConfigurationError(
            "APP_DOCS=1 needs Swagger UI, which is not installed: set APP_DOCS=0, or install fastapi-offline"
            " (dependency group `local`, locks/local.lock)"
        )
    return {name: Path(spec.origin).parent / "static" / name for name in _MEDIA_TYPES}


def add_docs(app: FastAPI) -> None:
    """Adds routes for the page at /docs and for the files that it loads. FastAPI itself serves /openapi.json.

    Raises ConfigurationError if Swagger UI is not installed.
    """
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
