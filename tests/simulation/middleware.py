"""Finds the webhook middleware in an application that FastAPI has assembled."""

from typing import Any

from fastapi import FastAPI

from app.web.middleware import WebhookMiddleware


def webhooks(app: FastAPI) -> WebhookMiddleware:
    """Returns the middleware. A test can replace the intake instead of building an app, which takes milliseconds."""
    if app.middleware_stack is None:
        app.middleware_stack = app.build_middleware_stack()
    found: Any = app.middleware_stack
    while not isinstance(found, WebhookMiddleware):
        found = found.app
    return found
