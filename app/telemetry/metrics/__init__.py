"""Metrics: counted by plain Python on the event loop, read by other threads at collection.

instruments.py   counters, histograms, and values that are read when they are asked for
webhooks.py      what is counted of a webhook
calls.py         what is counted of a call to SQS
garbage.py       the pauses of Python's garbage collector
process.py       CPU, memory, files and throttling of this process
threads.py       tokens of the thread pool
service.py       all of them together, and the event loop's
prometheus.py    as Prometheus' text, on a port of their own
otlp.py          as OTLP, pushed to a collector
"""
