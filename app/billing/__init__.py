"""Does the billing work for Chargebee's events: adds charges to a pending invoice and closes it.

The worker does this work. In release v01, the web process does it, with code of its own.

processing.py  claims an event, returns its outcome   attempt.py            one attempt at one invoice
leases.py      leases on an event and its invoice     term.py               the time of a lease, and its renewal
items.py       keys and updates of items: no I/O      claims.py             updates of claims and invoices: no I/O
billables.py   usage and reservations in the table    charges.py            usage, and its keys: no I/O
dynamodb.py    the table                              schema.py             creates the table
chargebee.py   the API's operations                   answers.py            what the API's answers mean: no I/O
pages.py       answers in pages                       chargebee_session.py  the connections to the site
api_calls.py   one call: slot, time-out, retries      caller.py             an attempt's calls to Chargebee
rate.py        the rate limit that all workers share  slots.py              the rate limit's item in the table
line_items.py  an invoice's lines: no I/O             inline_clients.py     v01's clients, whose calls block
access.py      the table and the site, from settings  README.md             the design, and why a crash is safe

usage      billable events, which another service writes into the table. An invoice *has* the usage that is reserved for
           it or billed on it: its *own* usage. A *charge item* stores what happens to a usage item
set aside  impossible to charge; the charge item has the reason
gone       unknown to Chargebee, for example because a person has deleted the invoice
attempt    one try to do the work of an event
claim      an event's item in the table, which says which attempt works on the event, or how the work ended
lease      a renewable time in which only one attempt may work on an event and its invoice
verdict    an error that no retry repairs; a *binding* verdict is stored, and each later attempt raises it again
slot       a time at which one worker may make one call to Chargebee; with slots, all workers share one rate limit
draft      a pending invoice, which gets another id (`closed_as`) when Chargebee closes it
term       a period for which a subscription is billed; in term.py, the time of a lease
"""
