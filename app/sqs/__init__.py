"""SQS: how a webhook becomes a message, and the clients that send it.

`blocking.py`, `native.py` and `lean.py` are clients. `group_commit.py` sends batches through `native.py` or `lean.py`.
`send(message)` returns when SQS has acknowledged the message, and otherwise raises QueueUnavailable or InvalidEvent.
`message.py`, `limits.py` and `queue.py` do no I/O.
"""
