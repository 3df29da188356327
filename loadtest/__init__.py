"""The load test: the history replayed under the pod's CPU budget, and drawn.

attack.sh          what people run: one attack; finds or builds the tools, then runs attack.py
attack.py          its command line (options.py), and what it prints
history.py         `make history`: every release, interleaved repeats
tips.py, bench.py  `make tips`, `make bench`: CPU for each webhook, as ratios within one run
same_order.py      whether two histories tell the same
fire/              one attack with vegeta, and its audit
stage/             what stands around it: queue and toxiproxy, the service or one of peers/, its budget
record/            what is measured (shapes), where and with what (meta), estimates of repeats; folders of results/
report/            report.html and the pictures of README and CHANGELOG
"""
