"""The access to the table and to Chargebee, which app/composition.py builds from Settings."""

from typing import NamedTuple

from pydantic import SecretStr


class BillingAccess(NamedTuple):
    """The table and the Chargebee site of the billing work. Times in seconds.

    `connections`: the pool's limit for DynamoDB; `rate`: Chargebee calls per minute, of all processes together;
    `call_timeout`: the deadline of one Chargebee call; `lease`: how long a claim keeps other workers away.
    """

    table: str
    connections: int
    site_url: str
    api_key: SecretStr
    call_timeout: float
    rate: int
    lease: float
