"""Stand-ins for the services that the lab's experiments call: a slow upstream, and a throw-away Postgres."""
