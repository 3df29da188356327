"""Runs the service with instruments that `app` lacks: a profiler, a timeline, CPU load, or boto3 with an empty cache.

    INSTRUMENT_PROFILE=FOLDER python -m profiles.instruments    serves like `python -m app web`, with a profiler

The variables INSTRUMENT_… choose the instruments. Without such a variable, the command runs the service unchanged.

wrapped.py   create_app with the chosen instruments
profiler.py  profiles one webhook at a time
timeline.py  records the stacks of event loop, threads and webhooks
samples.py   stores the samples of a timeline
overhead.py  spends CPU time on each request
functions.py a table of functions of `app` and of libraries, and what they do
"""

from collections.abc import Iterable

# A folder for profiles, each of one webhook.
PROFILE = "INSTRUMENT_PROFILE"
# A file for a timeline, which the process writes when it ends.
TIMELINE = "INSTRUMENT_TIMELINE"
# CPU time in ms that an added BaseHTTPMiddleware spends on each request, in addition to the middleware's own cost.
OVERHEAD_MS = "INSTRUMENT_OVERHEAD_MS"
# If 1, app/server serves the release (through app/server/bridge.py), even if uvicorn serves it in production.
OUR_SERVER = "INSTRUMENT_OUR_SERVER"
# If 1, boto3 gets a new session at the end of start-up, so that the first requests read botocore's data files again.
COLD_CLIENTS = "INSTRUMENT_COLD_CLIENTS"


def chosen(environ: Iterable[str]) -> bool:
    """Returns whether one of the names in `environ` is a variable that chooses an instrument."""
    return any(name.startswith("INSTRUMENT_") for name in environ)
