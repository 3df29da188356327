"""The load test: replays the history under the pod's CPU budget and plots it.

Commands (python -m loadtest.…; on a failure they exit with one line, see failures.py):

attack.sh, attack    one attack; the script finds or builds the tools first. Its options: options.py
history              `make history`: every release, interleaved repeats
calibrated           `make calibrated`: the published attack in dilated time
bench                `make bench`: CPU per webhook, as ratios within one run; --against: another commit
overload             `make overload`: two and three times the capacity, refusals, a burst of new connections
memory               `make memory`: the service's peak memory while SQS breaks its answers
lab                  `make lab`: the published experiments of app/lab, ratios beside the published ones
bench_json, bench_start, bench_tls    parsing, a start, CA bundles

Packages, each importing only from those below it (checked by import-linter):

report/              output of measurements: terminal, page, pictures, documents
duet.py              two subjects at the same time
interleaved.py       many attacks in one run
fire/                one attack with vegeta, and its audit
stage/               the environment of an attack: queue and toxiproxy, the service or one of peers/, its budget
record/              data of measurements: shapes, comparisons, environment, estimates, folders of results/
"""
