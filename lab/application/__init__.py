"""The experiments of a talk and three studies on sync and async in FastAPI, as endpoints of an application.

    do_nothing     the talk's appendix: what the framework costs
    tips           the talk's tips, each on an endpoint that does nothing else
    three_tasks    study 1: three slow tasks, one after the other or at the same time
    outbound       study 2: calling a slow HTTP service, and reading a file
    blocking       study 3: sleeping, in threads and on the event loop
    database       study 3: a SELECT through a pool of connections
    orders         study 3: two queries, a data frame and a computation

lab/report/published.json names the authors of the talk and of the studies. `python -m lab` runs the application in
separate processes; the webhook service in app/ imports nothing of the lab. docs/lab.md explains the results.
"""
