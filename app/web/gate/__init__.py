"""What every webhook passes before its release: outcome (record, log line) → auth → admission → body.

`shed` comes before FastAPI, and rejects webhooks while admission is full.
"""
