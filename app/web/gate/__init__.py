"""What every webhook passes before its release: outcome (a log line) → auth → admission → body.

`shed` stands before all of FastAPI, and answers for admission while there is no room.
"""
