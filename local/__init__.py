"""The service on a laptop: `python -m local run` starts what it needs around it, and itself as a deployment would.

cli/            `python -m local`: one file per command
run.py          the stand-ins and their addresses; service.py: the service and a worker on them
child.py        processes that end with their parent
embedded_aws.py, chargebee/, tls.py    the stand-ins, with the real protocols for the real clients
billables.py    what there is to bill; audit.py: whether it was billed once
demo/, compare/, doctor/, live/        the commands of these names, and the live page
"""
