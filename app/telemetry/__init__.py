"""Logging, metrics and traces, built from one record per webhook, message and call; profiles and timelines.

record.py        the records
observers.py     the observers that receive the records: metrics and traces
logging.py       configures loguru, and writes a line per record
lines.py         the lines of answered webhooks, written many at a time
metrics/         counters and histograms, for Prometheus and OTLP
trace.py         the trace of a webhook, and whether it is sampled
spans.py         the spans of webhooks, messages and calls
span_export.py   sends spans over OTLP
resource.py      what OTLP says about this process
profiling.py     profiles of webhooks (APP_PROFILE)
timeline.py      a timeline of event loop, threads and webhooks (APP_TIMELINE)
"""
