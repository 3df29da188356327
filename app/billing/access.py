"""Defines the addresses, credentials and limits with which the billing work calls DynamoDB and Chargebee.

app/from_settings.py takes the values from the settings.
"""

from typing import NamedTuple

from pydantic import SecretStr


class BillingAccess(NamedTuple):
    """The table and the Chargebee site of the billing work, with the limits for calls. Times are in seconds.

    `connections`: the maximum number of connections to DynamoDB. `rate`: the maximum number of calls to Chargebee per
    minute, for all processes together. `call_timeout`: the time-out of one try of a call to Chargebee. `lease`: the
    length of a lease. During a lease, only one worker may work on an event; the worker can renew the lease. `exempt`:
    ids of customers and subscriptions whose invoices stay pending. Release v01 does not use `connections`, `rate` or
    `lease`, so the calls of v01 have no rate limit.
    """

    table: str
    connections: int
    site_url: str
    api_key: SecretStr
    call_timeout: float
    rate: int
    lease: float
    exempt: frozenset[str] = frozenset()
