"""Stand-ins for a laptop: an embedded AWS that speaks the real protocol to the real clients, and Chargebee."""
