"""What the service says of itself: logging (later profiles, traces, metrics)."""
