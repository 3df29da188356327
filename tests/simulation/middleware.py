"""The middleware of webhooks in an application that FastAPI has assembled."""

from typing import Any

from fastapi import FastAPI

from app.web.middleware import WebhookMiddleware


def webhooks(app: FastAPI) -> WebhookMiddleware:
    """Returns the middleware, so that a test can give it another intake: FastAPI needs milliseconds for each app."""
    if app.middleware_stack is None:
        app.middleware_stack = app.build_middleware_stack()
    found: Any = app.middleware_stack
    while not isinstance(found, WebhookMiddleware):
        found = found.app
    return found
