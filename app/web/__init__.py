"""Process 1: HTTP → SQS.

    Outcome (a log line) → auth → admission → body → the release's `receive`

`main.create_app` puts it together; `server` runs it under uvicorn.
"""
