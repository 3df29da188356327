"""The lab: published experiments on sync and async in FastAPI, to be run again.

application/   the experiments, as endpoints of a FastAPI application
stand_ins/     what they call: a slow upstream, a throw-away Postgres
measurement/   load on each endpoint, in interleaved repeats
report/        the figures beside the published ones
cli/           `python -m lab`
"""
