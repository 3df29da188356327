"""The lab: what others measured of sync and async in FastAPI, as endpoints to measure again.

    do_nothing     the talk's appendix: what the framework costs
    tips           its tips, where they can be seen: on an endpoint that does nothing
    three_tasks    study 1: three slow tasks, in turn or side by side
    outbound       study 2: a call of a slow HTTP service, and a file
    blocking       study 3: sleeping, in threads and on the event loop
    database       study 3: a SELECT through a pool of connections
    orders         study 3: two queries, a data frame and a computation

The lab is an application and a process of its own, `python -m lab`; the web process imports nothing of it. docs/lab.md
explains the results.
"""
