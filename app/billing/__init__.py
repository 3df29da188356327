"""Does the billing work of a Chargebee event: it charges the pending invoice and closes it. Worker and v01 use it.

process.py   the claim of an event, its outcome        work.py       one attempt at one invoice
leases.py    who works on it, and until when           items.py      keys and updates of the table's items: pure
billables.py the billable events in the table          charges.py    what is charged, and found again: pure
dynamodb.py  the table                                 schema.py     how the table is made
chargebee.py the API's operations                      answers.py    what its answers mean: pure
calls.py     one call: slot, deadline, repetitions     rate.py       one budget of calls for all workers
access.py    what it needs to reach table and API
lines.py     the billing period of line items: pure    slots.py      the budget's item in the table
blocking.py  the same work for v01, in one go          sdk.py        its client of Chargebee, what its clients raise
README.md    its design, and why a crash is safe
"""
