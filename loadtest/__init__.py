"""The load test: the history replayed under the pod's CPU budget, and drawn.

Commands (python -m loadtest.…; failures.py ends them with one line):

attack.sh, attack    one attack; the script finds or builds the tools first. Its options: options.py
history              `make history`: every release, interleaved repeats
tips, bench          `make tips`, `make bench`: CPU for each webhook, as ratios within one run
overload             `make overload`: two and three times the capacity, refusals, newcomers
same_order           whether two histories tell the same
bench_json, bench_queue, bench_start    parsing, the embedded queue, a start

Rooms, each importing only from those below it (import-linter holds it):

report/              what was measured, shown: terminal, page, pictures, documents
interleaved.py       many attacks in one run
fire/                one attack with vegeta, and its audit
stage/               what stands around it: queue and toxiproxy, the service or one of peers/, its budget
record/              what was measured, written down: shapes, origin, estimates, folders of results/
"""
