"""Defines the events that may happen between two segments of a client's bytes."""

from enum import StrEnum


class Event(StrEnum):
    """An event. Its value is a sentence for the list of steps."""

    ACKNOWLEDGED = "SQS acknowledges a message"
    FAILED = "SQS takes no message"
    STOPS_SENDING = "the client stops sending"
    RESETS = "the client resets the connection"
    STOPS_READING = "the client stops reading"
    READS_AGAIN = "the client reads again"
    DRAINS = "the process begins to drain"
    STOPS = "the process stops"
    OVERLOADED = "the process is overloaded"
    RECOVERED = "the process is no longer overloaded"
