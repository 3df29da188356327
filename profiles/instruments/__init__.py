"""Instruments around the service, which `app` does not know: a profiler, a timeline, and CPU time for each request.

    INSTRUMENT_PROFILE=FOLDER python -m profiles.instruments    serves as `python -m app web` does, with a profiler

The variables INSTRUMENT_… choose the instruments; without one, this is the service as it is deployed.

wrapped.py   create_app with the chosen instruments
profiler.py  profiles one webhook at a time
timeline.py  records the stacks of event loop, threads and webhooks
overhead.py  spends CPU time on each request
"""

# A folder for profiles, each of one webhook.
PROFILE = "INSTRUMENT_PROFILE"
# A file for a timeline, which the process writes when it ends.
TIMELINE = "INSTRUMENT_TIMELINE"
# CPU time in ms that a BaseHTTPMiddleware spends on each request, besides its own.
OVERHEAD_MS = "INSTRUMENT_OVERHEAD_MS"
