"""The processes and senders of the tests: queue processes, services, raw sockets."""
