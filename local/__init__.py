"""Stand-ins for a laptop: an embedded AWS with the real protocol for the real clients, and a sender of webhooks."""
