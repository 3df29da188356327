"""SQS: a webhook as a message, and the clients that send it.

`message.py` and `queue.py` do no I/O.
`blocking.py`, `native.py` and `lean.py` are clients, `group_commit.py` sends through one of the last two:
`send(message)` returns when SQS has acknowledged the message, and raises QueueUnavailable or InvalidEvent otherwise.
"""
