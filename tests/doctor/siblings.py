"""Applications whose lines share one block, for `python -m tests.doctor.shares`.

The environment has what they do: SHARES are the seconds of each line, and MIDDLEWARES the number of middlewares above.
"""

import os
import time
from importlib import import_module
from typing import Annotated, Any

from fastapi import Depends, FastAPI

SHARES = [float(share) for share in os.environ["SHARES"].split()]
MIDDLEWARES = int(os.environ["MIDDLEWARES"])


def first() -> None:
    time.sleep(SHARES[0])  # line 0


def second() -> None:
    time.sleep(SHARES[1])  # line 1


def third() -> None:
    if len(SHARES) > 2:
        time.sleep(SHARES[2])  # line 2


class Middleware:
    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


async def user() -> str:
    first()
    return "ada"


def fastapi() -> Any:
    """Returns an application with a dependency and an endpoint that block."""
    app: Any = FastAPI()

    @app.get("/")  # type: ignore[untyped-decorator]  # `app` becomes a middleware
    async def endpoint(name: Annotated[str, Depends(user)]) -> str:
        second()
        third()
        return name

    for _ in range(MIDDLEWARES):
        app = Middleware(app)
    return app


def django() -> Any:
    """Returns an application with a view that blocks. Django is installed only where this is measured."""
    framework, http, urls = (import_module(name) for name in ("django", "django.http", "django.urls"))

    async def view(request: Any) -> Any:
        await user()
        second()
        third()
        return http.HttpResponse("ok")

    framework.conf.settings.configure(
        ROOT_URLCONF=type("Urls", (), {"urlpatterns": [urls.path("", view)]}),
        ALLOWED_HOSTS=["*"],
        SECRET_KEY="not secret",
        MIDDLEWARE=[f"{__name__}.middleware"] * MIDDLEWARES,
    )
    framework.setup()
    return import_module("django.core.handlers.asgi").ASGIHandler()


def middleware(get_response: Any) -> Any:
    """Returns a middleware of Django."""

    async def called(request: Any) -> Any:
        return await get_response(request)

    return import_module("asgiref.sync").markcoroutinefunction(called)


middleware.async_capable, middleware.sync_capable = True, False  # type: ignore[attr-defined]  # Django's protocol
