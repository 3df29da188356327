"""uvicorn as we run it: `serve` starts and `graceful` stops it, `listener` binds and `acceptor` accepts, `protocol` and
`protocol_h11` bound what a connection may send, `connections` and `deadlines` how long it may take.
"""
