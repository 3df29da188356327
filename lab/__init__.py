"""The lab: published experiments on sync and async in FastAPI, to be run again, and answers to what users ask.

application/   the published experiments, as endpoints of a FastAPI application
questions/     what users ask: an application for each, with the fault and its cure
stand_ins/     what they call: a slow upstream, a throw-away Postgres
measurement/   load on each endpoint, in interleaved repeats
report/        the figures beside the published ones
cli/           `python -m lab`
"""
