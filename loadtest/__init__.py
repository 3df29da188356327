"""The load test: the history replayed under the pod's CPU budget, and drawn.

attack.sh          what people run: one attack; finds or builds the tools, then runs attack.py
attack.py          its command line (options.py), and what it prints
measure.py         one measurement, whole: subject, pre-check, attack, audit
history.py         `make history`: every release, interleaved repeats
tips.py, bench.py  `make tips`, `make bench`: CPU for each webhook, as ratios within one run
same_order.py      whether two histories tell the same
traffic.py         webhooks with distinct ids, and what they looked like
drain.py           takes messages out while the attack runs
audit.py           what got 200 must be in the queue, exactly as sent
vegeta.py          the attacker and its reports
stage/             what stands around it: queue and toxiproxy, the service or one of peers/, its budget
record/            shapes.py of what is measured; meta.py: where and with what; estimate.py: what repeats say
report/            report.html and the pictures of README and CHANGELOG
"""
