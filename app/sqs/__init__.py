"""Makes an SQS message of each webhook, and sends the message.

`blocking.py`, `native.py` and `lean.py` are clients. `group_commit.py` sends batches through `native.py` or `lean.py`.
`send(message)` returns when SQS has acknowledged the message, and otherwise raises QueueUnavailable or InvalidEvent.
`message.py`, `limits.py` and `queue.py` do no I/O.
"""
