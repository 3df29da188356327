"""Checks a real service and a real queue process from end to end: no webhook is lost, and each invoice is billed once.

output.py           defines the functions that a demo uses to print its results
posted_samples.py   posts each sample event once, and checks the queue
closed_invoices.py  lets a worker close the invoices of the sample events, and audits the invoices
burst.py            posts many generated webhooks, and checks that none is lost
"""
