"""Programs with which the releases are compared: the floor (the bare Python server), and other languages."""
