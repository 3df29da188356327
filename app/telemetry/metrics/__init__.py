"""Stores metrics as plain Python numbers. One thread at a time changes a number, and other threads export it.

instruments.py      counters, histograms and gauges
declared.py         the metrics that a record's fields declare
webhook_metrics.py  the metrics of webhooks
message_metrics.py  the metrics of messages that a worker processes
call_metrics.py     the metrics of calls to SQS, DynamoDB and Chargebee
process_usage.py    the metrics of CPU time, memory, open files and CPU throttling
process_metrics.py  the metrics of the event loop, and the list of all metrics of a process
prometheus.py       serves the metrics as Prometheus' text format on a separate port
scrapes.py          the HTTP server from which Prometheus scrapes the metrics
otlp.py             pushes the metrics to a collector over OTLP
"""
