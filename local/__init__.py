"""The service on a laptop: `python -m local run` starts the stand-ins, and the service as a deployment would.

cli/            `python -m local`: one file per command
local_run.py    starts the stand-ins and records their addresses
launch.py       starts the service and a worker with the stand-ins
child.py        child processes that end when their parent ends
embedded_aws.py, chargebee/, tls.py    the stand-ins: real clients talk to them over the real protocols
seeding.py      creates the invoices and billable events; audit.py checks that each was billed once
demo/, compare/, doctor/, live/        the commands of these names, and the live page
"""
