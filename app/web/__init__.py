"""Process 1: HTTP → SQS.

    server → shed → FastAPI → gate (outcome, auth, admission, body) → the release's `receive` → SQS

`main.create_app` puts it together; `server` runs it under uvicorn.
"""
