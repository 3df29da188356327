"""The load test: attacks each release under the pod's CPU budget, and plots the results.

`python -m loadtest --help` lists the measurements; each is a module here with a click command `main`. attack.sh makes
a single attack: it runs `python -m loadtest.attack`, whose options are in attack_options.py. A measurement that fails
exits with one line: see failures.py.

These modules and packages are layers: each imports only from the layers below it (import-linter checks this).

report/              output of measurements: terminal, page, pictures, documents
duet.py              many pairs of subjects; together.py attacks the two subjects of a pair at the same time
interleaved.py       many attacks in one run
outcome.py           the output of a run: the table, reasons to doubt the figures, and failed audits
fire/                one attack with vegeta, and its audit
stage/               the environment of an attack: queue, toxiproxy, CPU budget, and the service or one of peers/
record/              data of measurements: shapes, comparisons, environment, estimates, folders of results/
"""
