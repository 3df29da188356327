"""What the releases are measured against: the floor below any Python of ours, and the same work in Go."""
