"""Logging, profiling, and the record of a webhook that they read."""
