"""SQS: what a webhook looks like as a message, and the ways to send one.

`message.py` is pure; each other module is a client with `send(message)`, which returns when SQS has
acknowledged the message and raises `QueueUnavailable` or `InvalidEvent` when it has not.
"""
