"""uvicorn as we run it: `serve` starts and stops it, `listener` and `acceptor` take connections in, `protocol` and
`protocol_h11` bound what a connection may send, `connections` bounds how long it may take.
"""
