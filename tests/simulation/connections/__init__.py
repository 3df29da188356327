"""Searches the states of one connection, for each of the server's two handlers: callbacks and ASGI."""
