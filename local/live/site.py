"""The live page's web application: serves the page and the stream of its figures, and does what the buttons request."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from local.live import document, stream
from local.live.buttons import DELAYS_MS, LOAD_BUTTONS, Bodies, Buttons, OpenPost
from local.live.page_config import PageConfig, takes_webhooks
from local.live.ring import Ring
from local.live.sampler import sample
from local.local_guard import SameOriginGuard

_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}


def create_site(config: PageConfig, port: int, bodies: Bodies, open_post: OpenPost) -> Starlette:
    """Returns the live page's application, which accepts only requests to `port` on loopback.

    While the application runs, it samples the services' figures.
    """
    ring = Ring()
    buttons = Buttons(config.services, config.delay, bodies, open_post)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with buttons:
            sampling = asyncio.create_task(sample(config.services, ring, buttons.extras, buttons.sender_times))
            yield
            sampling.cancel()
            with suppress(asyncio.CancelledError):
                await sampling

    async def page(request: Request) -> Response:
        headers = {"Content-Security-Policy": f"{document.policy(connecting=True)}; frame-ancestors 'none'"}
        return HTMLResponse(document.live(config.services), headers=_HEADERS | headers)

    async def saved(request: Request) -> Response:
        now = datetime.now().astimezone()
        name = "-".join(["live", *(service.name for service in config.services), f"{now:%Y%m%d-%H%M%S}.html"])
        moments = [moment.text for moment in ring.after(0)]
        text = document.saved(config.services, moments, now.isoformat(" ", "seconds"))
        return HTMLResponse(text, headers=_HEADERS | {"Content-Disposition": f'attachment; filename="{name}"'})

    async def events(request: Request) -> Response:
        return stream.respond(request, ring)

    async def send(request: Request) -> Response:
        name = request.path_params["load"]
        if name not in LOAD_BUTTONS or not takes_webhooks(config.services):
            return Response(status_code=404)
        return Response(status_code=202 if buttons.send(name) else 409)

    async def delay(request: Request) -> Response:
        milliseconds = request.path_params["milliseconds"]
        if milliseconds not in DELAYS_MS or not takes_webhooks(config.services):
            return Response(status_code=404)
        return Response(status_code=204 if await buttons.delay(milliseconds) else 502)

    routes = [
        Route("/", page),
        Route("/events", events),
        Route("/saved.html", saved),
        Route("/send/{load}", send, methods=["POST"]),
        Route("/delay/{milliseconds:int}", delay, methods=["POST"]),
    ]
    hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
    return Starlette(routes=routes, lifespan=lifespan, middleware=[Middleware(SameOriginGuard, hosts=hosts)])
