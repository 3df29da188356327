"""Metrics: plain Python counts on the event loop, and other threads read the counts when they collect.

instruments.py    counters, histograms, and gauges that are read at collection
webhooks.py       the metrics of webhooks
messages.py       the metrics of messages that a worker processes
calls.py          the metrics of calls to SQS
process_usage.py  CPU, memory, files and throttling of this process
service.py        the metrics of the event loop, and all metrics of a process together
prometheus.py     Prometheus' text format, on a port of its own
scrapes.py        the HTTP server for Prometheus
otlp.py           pushes to a collector over OTLP
"""
