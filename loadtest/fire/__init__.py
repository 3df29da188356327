"""Runs an attack and its audit. The modules of the second list are for attacks with faults, and for billing by workers.

attack_measurement.py  the whole measurement: subject, precheck, attack, audit
precheck.py        sends one webhook before the attack, and checks that it arrives in the queue
behind.py          provides what a subject needs: a queue, or for v01 a table and invoices
vegeta.py          the load generator and its reports
traffic.py         webhooks with distinct ids, and the digest of each; http_request.py: requests to any service
arrivals.py        counts the messages in the queue: asks the stand-in, or counts what drain.py receives
drain.py           empties an emulator's queue during the attack
invoice_bodies.py  counts what v01 has billed, because v01 has no queue
queue_audit.py     checks that every event id with a 200 is in the queue, exactly as sent
probe.py           probes /healthz during the attack
conditions.py      checks whether the machine or the queue (queue_watch.py) has influenced the figures
attempts.py        repeats an attack that another virtual machine has disturbed
used.py            how much CPU and memory of its budget a subject has used
progress.py        progress bars

faults.py          injects faults during a soak; a seed decides their order
supervised.py      restarts a service whenever it ends
killed_workers.py  runs workers, and kills one of them every few seconds
deliveries.py      the events for the workers: some redelivered, some out of order, and some that can never succeed
hostile.py         names and ids that look like the references in charges
billed.py          audits the charges at Chargebee's stand-in
"""
