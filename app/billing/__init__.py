"""Does the billing work of Chargebee's events: adds charges to a pending invoice and closes it.

The worker does this work. In release v01, the web process does it, in the release's own words.

processing.py  claims an event, returns its outcome     attempt.py        one attempt at one invoice
leases.py      leases on an event and its invoice       term.py           the time of a lease, and its renewal
items.py       keys and updates of items: no I/O        claims.py         updates of claims and invoices: no I/O
billables.py   the billable events in the table         charges.py        makes and recognises charges: no I/O
dynamodb.py    the table                                schema.py         creates the table
chargebee.py   the API's operations                     answers.py        what the API's answers mean: no I/O
pages.py       answers in pages                         session.py        the connections to the site
api_calls.py   one call: slot, time-out, retries        caller.py         what an attempt has asked of Chargebee
rate.py        the rate limit that all workers share    slots.py          the rate limit's item in the table
line_items.py  the billing period: no I/O               blocking.py       v01's clients, whose calls block
access.py      the table and the site, from settings    README.md         the design, and why a crash is safe
"""
