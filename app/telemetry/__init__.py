"""Builds logs, metrics and traces from one record per webhook, message and call.

record.py        the records of webhooks, messages and calls, with the names of their fields
fields.py        reads the declared values of a record for logs and spans
observers.py     creates the observers, which receive the records and make metrics and traces from them
logging.py       configures loguru, and writes a line for each webhook and message
lines.py         collects the log lines of webhooks, and writes many lines at once
stderr.py        replaces standard error, so that a log reader that stalls does not stop the process
metrics/         counters and histograms, for Prometheus and OTLP
trace.py         finds the trace of a webhook, and decides whether to sample the webhook
spans.py         makes the spans of webhooks, messages and calls
span_export.py   sends spans over OTLP
resource.py      describes this process for OTLP
timestamps.py    formats the current time for log lines and messages
"""
