"""Chargebee on a laptop: senders of webhooks (`load_generator`, `sender`), and a stand-in for the API for invoices.

`start.start()` runs the stand-in as a child process; `python -m local.chargebee` runs it on its own.
"""
