"""Tests from end to end, with a real service and a real queue process: posted webhooks arrive, and are billed once.

output.py           how a demo prints its results
posted_samples.py   posts each sample event once, and checks the queue
closed_invoices.py  lets a worker close the samples' invoices, and audits them
burst.py            posts many generated webhooks, and checks that none is lost
"""
