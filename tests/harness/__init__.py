"""Helpers of the tests: queue processes, services, senders on raw sockets."""
