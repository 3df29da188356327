"""Defines how the billing work reaches the table and Chargebee. app/composition.py builds the value from Settings."""

from typing import NamedTuple

from pydantic import SecretStr


class BillingAccess(NamedTuple):
    """The DynamoDB table and the Chargebee site of the billing work. Times are in seconds.

    `connections`: the largest number of connections to DynamoDB. `rate`: the number of calls to Chargebee per minute
    that all processes together may make. `call_timeout`: the deadline of one call to Chargebee. `lease`: how long a
    claim on an event keeps other workers away from the event.
    """

    table: str
    connections: int
    site_url: str
    api_key: SecretStr
    call_timeout: float
    rate: int
    lease: float
