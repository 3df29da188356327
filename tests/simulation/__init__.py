"""Runs the worker and the billing work in virtual time, and enumerates the orders of their calls and their faults.

loop.py         an event loop of virtual time            processes.py   a worker as a process that may die or stall
calls.py        a call, and the faults that may hit it   world.py       the clock, the processes and the next steps
expressions.py  DynamoDB's expressions                   table.py       the table in memory
site.py         Chargebee in memory                      queues.py      SQS in memory
scenarios.py    the events and workers of a run          audit.py       the invariants
search.py       the exhaustive search                    report.py      its figures
machine.py      random runs beyond the bound             mutants.py     faults that the checker must find
"""
