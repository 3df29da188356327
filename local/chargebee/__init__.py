"""Chargebee on a laptop: who sends webhooks (`load`, `sender`), and a stand-in for the API that bills invoices.

`start.start()` runs the stand-in as a child process; `python -m local.chargebee` runs it by itself.
"""
