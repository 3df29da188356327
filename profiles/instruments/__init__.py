"""Instruments around the service, which `app` does not know: a profiler, a timeline, CPU time, and cold clients.

    INSTRUMENT_PROFILE=FOLDER python -m profiles.instruments    serves as `python -m app web` does, with a profiler

The variables INSTRUMENT_… choose the instruments; without one, this is the service as it is deployed.

wrapped.py   create_app with the chosen instruments
profiler.py  profiles one webhook at a time
timeline.py  records the stacks of event loop, threads and webhooks
samples.py   stores the samples of a timeline
overhead.py  spends CPU time on each request
functions.py says what known functions do: one table
"""

from collections.abc import Iterable

# A folder for profiles, each of one webhook.
PROFILE = "INSTRUMENT_PROFILE"
# A file for a timeline, which the process writes when it ends.
TIMELINE = "INSTRUMENT_TIMELINE"
# CPU time in ms that a BaseHTTPMiddleware spends on each request, besides its own.
OVERHEAD_MS = "INSTRUMENT_OVERHEAD_MS"
# 1: app/server serves the release (through app/server/bridge.py), even if production uses uvicorn.
OUR_SERVER = "INSTRUMENT_OUR_SERVER"
# 1: the session of boto3 is new after the start, so that the first requests read botocore's data files.
COLD_CLIENTS = "INSTRUMENT_COLD_CLIENTS"


def chosen(environ: Iterable[str]) -> bool:
    """Returns whether variables of `environ` choose an instrument."""
    return any(name.startswith("INSTRUMENT_") for name in environ)
