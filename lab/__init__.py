"""The lab repeats published experiments on sync and async in FastAPI, and measures the answers to users' questions.

application/   the published experiments, as endpoints of a FastAPI application
questions/     for each question, a small application that shows a fault and its cure
stand_ins/     the services that the applications call: a slow upstream, a throw-away Postgres
measurement/   puts each endpoint under load, and measures it several times
report/        tables and charts, with the measured figures beside the published figures
cli/           the command line `python -m lab`
"""
