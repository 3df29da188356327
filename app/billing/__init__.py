"""Does the billing work of a Chargebee event: charges the pending invoice and closes it, for the worker and v01.

processing.py  claims an event, returns its outcome     attempt.py        one attempt at one invoice
leases.py      leases on an event and its invoice       items.py          keys and updates of the table's items: pure
billables.py   the billable events in the table         charges.py        makes and recognises charges: pure
dynamodb.py    the table                                schema.py         creates the table
chargebee.py   the API's operations                     answers.py        what the API's answers mean: pure
api_calls.py   one call: slot, deadline, repetitions    rate.py           the rate limit that all workers share
line_items.py  the billing period: pure                 slots.py          the rate limit's item in the table
blocking.py    the same work with v01's clients         chargebee_sdk.py  v01's client of Chargebee, and its errors
access.py      the table and the site, from settings    README.md         the design, and why a crash is safe
"""
