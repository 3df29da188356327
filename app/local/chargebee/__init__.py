"""Chargebee's side: webhooks sent as it sends them, one at a time or many at once."""
