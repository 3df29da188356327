"""Replaces Chargebee on a laptop: sends webhooks (`load_generator`, `sender`), and serves the API for invoices.

The server of the API is called the stand-in. `start.start()` runs the stand-in as a child process, and
`python -m local.chargebee` runs only the stand-in.
"""
