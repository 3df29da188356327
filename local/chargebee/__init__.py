"""Replaces Chargebee on a laptop: sends webhooks to the service, and serves Chargebee's API for invoices.

`sender` and `load_generator` send the webhooks. The server of the API is called the stand-in. `chargebee_start.start()`
runs the stand-in as a child process, and `python -m local.chargebee` runs the stand-in alone.
"""
