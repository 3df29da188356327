"""Runs uvicorn with a graceful shutdown and with limits on connections.

serve.py         runs the application under the server
graceful.py      stops the server without dropping a connection
listener.py      binds the listening socket
acceptor.py      accepts connections
connections.py   limits open connections: deadlines, bytes of heads, bytes read
deadlines.py     chooses a connection's deadline by its state
protocol.py      uvicorn's httptools protocol with limits on what a client may send
protocol_h11.py  uvicorn's h11 protocol with the same limits
heads.py         checks of a request's head, for both protocols
cycle.py         writes to uvicorn's internals
writer.py        sends a response's head and body together
"""
