"""Runs the worker and the billing work in virtual time, and enumerates the orders of their calls and their faults.

loop.py         an event loop of virtual time            processes.py   a worker as a process that may die or stall
calls.py        a call, and the faults that may hit it   world.py       the clock, the processes and the next steps
expressions.py  DynamoDB's expressions                   table.py       the table in memory
site.py         Chargebee in memory                      queues.py      SQS in memory
scenarios.py    the events and workers of a run          audit.py       the invariants
search.py       the exhaustive search                    report.py      its figures
actors.py       who acts beside the workers              facts.py       what the actors have done
money.py        the invariants of the money              actor_mutants.py  faults that only show beside actors
machine.py      random runs beyond the bound             mutants.py     faults that the checker must find
"""
