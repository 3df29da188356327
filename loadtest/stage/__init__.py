"""The environment of an attack: the queue behind toxiproxy, the service or a peer, and the budget of CPU and memory.

stack.py            a queue behind toxiproxy.py; queues.py: the queue's process (embedded AWS or stand_in.py)
direct.py           a queue in the stand-in of stand_in.py, without toxiproxy
billing_stage.py    DynamoDB and Chargebee's stand-in, which v01 uses instead of a queue
subject.py          the process under attack: a release, or one of peers/
peers.py            the floor (uvicorn alone) and the same work in other languages; cargo.py builds peers in Rust
stage_listener.py   the processes of a service that was started elsewhere; here.py: addresses of this machine
checkout.py         another commit to attack; environments.py: virtual environments; trial.py: a trial start
worker_stage.py     a worker within a budget; retrying_worker.py: a worker that soon makes its first retry
worker_stack.py     the queues, the table and the stand-in for Chargebee that workers use
in_process.py       serves webhooks in one process without sockets, through fake_transports.py
callgrind.py        counts instructions with callgrind
collector.py        a collector of telemetry that stores nothing
commands.py         runs another command of this project as a child process
tools.py            vegeta and toxiproxy, built if they are missing
budget/             limits CPU and memory, by the mechanism that the machine has
cores.py            moves processes from core to core
file_limits.py      the limit of open files that an attack requires
tree.py             a process and its descendants
"""
