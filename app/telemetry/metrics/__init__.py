"""Metrics: counted by plain Python on the event loop, read by other threads at collection.

instruments.py   counters, histograms, and values that are read when they are asked for
webhooks.py      what is counted of a webhook
messages.py      what is counted of a message that a worker processes
calls.py         what is counted of a call to SQS
process.py       CPU, memory, files and throttling of this process
service.py       all of them together, and the event loop's
prometheus.py    as Prometheus' text, on a port of their own; scrapes.py is its server
otlp.py          as OTLP, pushed to a collector
"""
