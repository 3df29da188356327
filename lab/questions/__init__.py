"""What FastAPI's users ask most: one small application for each question, with the fault and its cure side by side.

    def_or_async_def     which, and what belongs in a thread or in a process
    deadlock             requests hang, although Postgres is idle
    disconnect           the client has gone, and the handler runs on
    background_tasks     background tasks block other requests, and get lost
    workers              gunicorn, uvicorn's workers or pods, and how many
    memory               memory grows and never falls
    large_responses      large responses are slow, and slow for everybody else
    observing            what logs, metrics and traces cost
    python_and_server    which Python, and which server

`one_call_per_request` is a class to copy. `lab.measurement.questions` has what is done to each of the others.
docs/questions has the answers.
"""
