"""Turns each webhook into an SQS message, and sends the message.

`blocking.py`, `native.py` and `lean.py` are clients. `group_commit.py` sends batches through `native.py` or `lean.py`.
`send(message)` returns after SQS has acknowledged the message, or raises QueueUnavailable or InvalidEvent.
`message.py` and `queue.py` do no I/O.
"""
