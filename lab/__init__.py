"""The lab repeats published experiments on sync and async in FastAPI, and measures the answers to users' questions.

application/   the published experiments, as endpoints of a FastAPI application
questions/     an application for each question, with the fault and its cure
stand_ins/     the services that the applications call: a slow upstream, a throw-away Postgres
measurement/   measures each endpoint under load, in interleaved repeats
report/        tables and charts, with the measured figures beside the published figures
cli/           `python -m lab`
"""
