"""The web process receives webhooks over HTTP and sends them to SQS.

    server → FastAPI → middleware (overload, authentication, admission, body) → the release's `receive` → SQS

A release is one version of the webhook's handler (`receive`). v01 does the billing work itself and needs no SQS. In
v11, `callbacks` takes the place of FastAPI and `middleware` for most webhooks. `main.create_app` assembles the
application, and `server` runs it under uvicorn.
"""
