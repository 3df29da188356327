"""What the tests start for real: queue processes, services, senders on raw sockets."""
