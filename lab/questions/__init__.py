"""The questions that FastAPI's users ask most. Each has a small application that shows a fault and its cure.

    def_or_async_def     which to use, and which work belongs in a thread or in a process
    deadlock             requests hang, although Postgres is idle
    disconnect           the client has disconnected, and the handler continues
    background_tasks     background tasks block other requests, and get lost
    workers              gunicorn, uvicorn's workers or pods, and how many
    memory               memory grows and never falls
    large_responses      large responses are slow, and slow down all other requests
    observing            the cost of logs, metrics and traces
    python_and_server    which Python, and which server

`lab.measurement.questions` measures these applications. `one_call_per_request` has a class to copy, and
`uvicorn_closes` shows when uvicorn closes connections. docs/questions has the answers.
"""
