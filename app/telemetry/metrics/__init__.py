"""Counts metrics in plain Python numbers on the event loop. Other threads read the numbers when they collect metrics.

instruments.py    counters, histograms, and gauges whose values are read at collection
webhooks.py       the metrics of webhooks
messages.py       the metrics of messages that a worker processes
calls.py          the metrics of calls to SQS
process_usage.py  the metrics of CPU time, memory, open files and throttling
service.py        the metrics of the event loop, and the list of all metrics of a process
prometheus.py     serves the metrics as Prometheus' text format on a separate port
scrapes.py        the HTTP server for the scrapes of Prometheus
otlp.py           pushes the metrics to a collector over OTLP
"""
