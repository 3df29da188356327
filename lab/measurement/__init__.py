"""The published experiments, measured on the lab: published ratios beside measured ones.

studies.py    what is measured: the cases of each study
duets.py      the tips, two labs at a time
run.py        measures studies, and writes lab.json after each
endpoint.py   one endpoint under one load
beside.py     what runs beside the lab: the slow upstream, Postgres
"""
