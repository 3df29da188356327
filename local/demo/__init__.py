"""Tests the service from end to end: checks that no webhook is lost, and that each invoice is billed once.

output.py           declares the functions with which a demo prints its results
posted_samples.py   posts each sample event (file of `loadtest/events`) once, and checks which events are in the queue
closed_invoices.py  lets a worker close the invoices of the sample events, and checks the invoices
burst.py            posts many generated webhooks, and checks that none is lost
"""
