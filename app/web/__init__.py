"""The web process: HTTP → SQS.

    server → endpoint: gate (overload, authentication, admission, body) → the release's `receive` → SQS
             └─ all other requests → FastAPI: probes, /docs, 404, 405

`main.create_app` assembles the application, and `server` runs it under uvicorn.
"""
