"""Sends webhooks as Chargebee does, one at a time or many concurrently."""
