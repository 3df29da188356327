"""The load test: attacks each release of the service under the CPU budget of a pod, and plots the results.

`python -m loadtest --help` lists the measurements; each is a module here with a click command `main`. attack.sh makes
a single attack: it runs `python -m loadtest.attack`, whose options are in attack_options.py. A measurement that fails
exits with one line: see failures.py.

These modules and packages are layers: each imports only from the layers below it (import-linter checks this).

report/              output of measurements: terminal, page, pictures, documents
duet.py              many pairs of subjects (attacked programs); together.py: one pair, attacked at the same time
interleaved.py       many attacks in one run
outcome.py           the output of a run: the table, reasons to doubt the figures, and failed audits
fire/                one attack with vegeta, and its audit
stage/               the environment of an attack: queue, toxiproxy, CPU budget, and the service or a peer
peers/               programs with which the releases are compared
record/              data of measurements: shapes, comparisons, environment, estimates, folders of results/
"""
