"""Runs an attack and its audit. The modules of the second list are for runs with faults and for workers.

attack_measurement.py         the whole measurement: subject, precheck, attack, audit
precheck.py        sends one webhook first, which must be in the queue
behind.py          provides the queue that a subject works with, or for v01 a table and invoices
vegeta.py          the load generator and its reports
traffic.py         webhooks with distinct ids, and the digest of each; http_request.py: requests to any service
arrivals.py        what has arrived in the queue: the stand-in's digests, or what drain.py receives during the attack
drain.py           empties an emulator's queue during the attack
invoice_bodies.py        what v01 has billed, in place of the queue
queue_audit.py           checks that every event id with a 200 is in the queue, exactly as sent
probe.py           /healthz during the attack
conditions.py      whether the attack measured something else: the machine, or the queue (queue_watch.py)
attempts.py        repeats an attack that another virtual machine has disturbed
used.py            what was used of a budget
progress.py        progress bars

faults.py          injects faults during a soak, in the order of a seed
supervised.py      restarts a service whenever it ends
killed_workers.py  workers that are killed every few seconds
deliveries.py      the events in the workers' queue: redelivered, out of order, and some that cannot succeed
hostile.py         names and ids that imitate the references of charges
billed.py          audits the charges at Chargebee's stand-in
"""
