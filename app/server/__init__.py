"""Serves HTTP/1.1 with limits on connections, and stops without dropping an accepted connection.

The package does not know what a webhook is. The caller passes limits, and a handler that answers the requests.

run.py           starts, and stops after a signal
listener.py      binds the listening socket
acceptor.py      accepts connections
states.py        the states of a connection, as a table
connection.py    applies the table to one connection
parser.py        parses what the client sends
request.py       a request, and the interface of its handler
responses.py     writes the head of a response
limits.py        deadlines of connections, and which connection to close if there are too many
heads.py         checks a request's head (request line and headers)
received.py      limits the memory for heads, and the bytes read in one iteration of the event loop
bridge.py        passes requests to an ASGI application
"""
