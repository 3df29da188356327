"""What stands around an attack: the queue behind toxiproxy, the service or a peer, its budget.

stack.py        queues.py (ElasticMQ or embedded) behind toxiproxy.py
subject.py      what is attacked: a release, or one of peers/
peers.py        the floor and the same work in Go, as subjects
budget/         how much CPU and memory it may use, by what the machine has
open_files.py   the limit that an attack needs
"""
