"""End to end, with a real service and a real queue process: what is posted must arrive, and be billed once.

output.py      what a demo needs to show what it does
samples.py    each sample event once, and the queue afterwards
invoices.py   a worker closes the samples' invoices
burst.py      many fresh webhooks
"""
