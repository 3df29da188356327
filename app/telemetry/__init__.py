"""Logging, metrics, traces, profiling, and the records of webhooks and calls that they read."""
