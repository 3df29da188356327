"""The environment of an attack: the queue behind toxiproxy, the service or a peer, its budget.

stack.py            queues.py (stand_in.py or embedded) behind toxiproxy.py
direct.py           a queue of stand_in.py without toxiproxy
billing_stage.py    DynamoDB and Chargebee's stand-in, which v01 uses instead of a queue
subject.py          the process under attack: a release, or one of peers/
peers.py            the floor and the same work in other languages, as subjects; cargo.py builds those in Rust
stage_listener.py   the processes of a service that was started elsewhere; here.py: is an address this machine's?
checkout.py         another commit as a subject, in one of environments.py; trial.py: whether it starts
worker_stage.py     a worker within a budget; retrying_worker.py: one with a short first retry
worker_stack.py     queues, table and Chargebee's stand-in for workers
in_process.py       serves webhooks in one process without sockets, through fake_transports.py
callgrind.py        counts instructions with callgrind
collector.py        a collector of telemetry that stores nothing
commands.py         another command of this project as a child
tools.py            vegeta and toxiproxy, built if they are missing
budget/             limits CPU and memory, by the mechanism that the machine has
cores.py            pins a process to a core
file_limits.py       the limit of open files that an attack requires
tree.py             a process and its descendants
"""
