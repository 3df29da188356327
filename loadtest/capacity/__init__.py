"""What a rate of webhooks takes, on paper. No I/O. deploy/CAPACITY.md explains the results."""
