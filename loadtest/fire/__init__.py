"""One attack and its audit.

measure.py     all of it: subject, precheck.py (one webhook first), attack, audit
vegeta.py      the load generator and its reports
traffic.py     webhooks with distinct ids, and the digest of each
drain.py       receives and deletes messages while the attack runs
audit.py       every event id with a 200 is in the queue, exactly as sent
probe.py       /healthz during the attack
progress.py    progress bars
"""
