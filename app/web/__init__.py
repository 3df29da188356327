"""The web process receives webhooks over HTTP and sends them to SQS.

    server → FastAPI → middleware (overload, authentication, admission, body) → the release's `receive` → SQS

A release is one version of the webhook's handler (`receive`). v01 does the billing work itself and needs no SQS. Under
a release without ASGI, `webhooks` takes the place of FastAPI and `middleware`. `main.create_app` assembles the
application.
"""
