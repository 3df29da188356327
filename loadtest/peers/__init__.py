"""What the releases are compared with: the floor (the bare Python server) and the same work in Go."""
