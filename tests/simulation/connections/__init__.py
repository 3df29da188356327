"""Searches the states of one connection, for each of the server's parsers."""
