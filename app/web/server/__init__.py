"""Runs uvicorn with a graceful shutdown and with limits on connections.

serve.py         runs the application under the server
graceful.py      stops the server without dropping an accepted connection
listener.py      binds the listening socket
acceptor.py      accepts connections
connections.py   limits open connections: deadlines, bytes of heads, bytes read
deadlines.py     sets a connection's deadline for its current state
protocol.py      uvicorn's httptools protocol with limits on what a client may send
protocol_h11.py  uvicorn's h11 protocol with the same limits
protocol_callbacks.py, exchange.py   serve the requests to one path without ASGI (v11)
heads.py         checks a request's head (request line and headers), for both protocols
cycle.py         changes the state that uvicorn stores for a request
writer.py        sends a response's head and body together
"""
