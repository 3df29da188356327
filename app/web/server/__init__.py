"""Runs uvicorn with limits on connections, and stops it without dropping an accepted connection (v11).

serve.py         runs the application under this server, or under uvicorn as people install it (v01 to v10)
graceful.py      stops the server without dropping an accepted connection
listener.py      binds the listening socket
acceptor.py      accepts connections
connections.py   limits open connections: deadlines, bytes of heads, bytes read
deadlines.py     sets a connection's deadline for its current state
protocol.py      uvicorn's httptools protocol with limits on what a client may send
protocol_callbacks.py, exchange.py   serve the requests to one path without ASGI
heads.py         checks a request's head (request line and headers)
cycle.py         changes the state that uvicorn stores for a request
writer.py        sends a response's head and body together
"""
