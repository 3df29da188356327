"""One attack and its audit.

measure.py     all of it: subject, precheck.py (one webhook first), attack, audit
vegeta.py      the load generator and its reports
traffic.py     webhooks with distinct ids, and the digest of each
arrivals.py    what has arrived in the queue: the stand-in's digests, or what drain.py receives meanwhile
audit.py       every event id with a 200 is in the queue, exactly as sent
probe.py       /healthz during the attack
conditions.py  whether the attack measured something else: the machine, or the queue (queue_watch.py)
used.py        what was used of a budget
progress.py    progress bars
"""
