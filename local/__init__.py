"""Runs the service on a laptop.

`python -m local run` starts stand-ins for AWS and Chargebee, which are local servers with the same APIs. Then it starts
the service and a worker with the same commands as a deployment. These processes together are called a local run.

cli/            `python -m local`: one file per command
local_run.py    starts the stand-ins and records their addresses
launch.py       starts the service and a worker, which use the stand-ins
child.py        child processes that end when their parent ends
embedded_aws.py, chargebee/    the stand-ins; service and worker call them with the same clients as in a deployment
tls.py          creates certificates for HTTPS
seeding.py, usage_events.py    create invoices and usage; the worker adds the usage to the invoices as charges
money_audit.py        checks that each billable event was charged exactly once
demo/, compare/, doctor/, live/        the commands `demo`, `compare` and `doctor`; the live page (charts)
"""
