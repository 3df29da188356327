"""The load test: attacks each release under the pod's CPU budget, and plots the results.

`python -m loadtest --help` lists the measurements; each is a module here with a click command `main`. attack.sh runs
`python -m loadtest.attack`, a single attack, whose options are in attack_options.py. A measurement that fails exits
with one line: see failures.py.

Modules and packages. Each imports only from the lines below it (checked by import-linter):

report/              output of measurements: terminal, page, pictures, documents
duet.py              many pairs of subjects; together.py: one pair, at the same time
interleaved.py       many attacks in one run
outcome.py           the output of a run: the table, doubts and failed audits
fire/                one attack with vegeta, and its audit
stage/               the environment of an attack: queue and toxiproxy, the service or one of peers/, its budget
record/              data of measurements: shapes, comparisons, environment, estimates, folders of results/
"""
