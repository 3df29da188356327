"""The environment of an attack: the queue behind toxiproxy, the service or a peer, its budget.

stack.py        queues.py (stand_in.py, ElasticMQ or embedded) behind toxiproxy.py
direct.py       a queue of stand_in.py without toxiproxy
subject.py      the process under attack: a release, or one of peers/
checkout.py     another commit, with one of environments.py, as a subject; trial.py: whether it starts
peers.py        the floor and the same work in Go, as subjects
tools.py        vegeta and toxiproxy, built if they are missing
budget/         limits its CPU and memory, by the mechanism that the machine has
open_files.py   the limit of open files that an attack requires
"""
