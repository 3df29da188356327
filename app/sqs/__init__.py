"""Turns each webhook into an SQS message, and sends the message.

`blocking.py`, `native.py` and `lean.py` are clients. `group_commit.py` sends batches through `native.py` or `lean.py`.
In `blocking.py`, `native.py` and `group_commit.py`, the method `send` returns after SQS has acknowledged the message.
If SQS does not acknowledge the message, `send` raises InvalidEvent or QueueUnavailable.
`message.py` and `queue.py` do no I/O.
"""
