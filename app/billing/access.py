"""Defines the addresses, credentials and limits with which the billing work calls DynamoDB and Chargebee.

app/composition.py takes the values from the settings.
"""

from typing import NamedTuple

from pydantic import SecretStr


class BillingAccess(NamedTuple):
    """The table and the Chargebee site of the billing work, with the limits for calls. Times are in seconds.

    `connections`: the maximum number of connections to DynamoDB. `rate`: the maximum number of calls to Chargebee per
    minute, of all processes together. `call_timeout`: the time-out of one try of a call to Chargebee. `lease`: how long
    a claim reserves an event for one worker, unless the worker renews the claim. `exempt`: ids of customers and
    subscriptions whose invoices stay pending. Release v01 uses neither `connections` nor `rate` nor `lease`, so `rate`
    does not limit its calls.
    """

    table: str
    connections: int
    site_url: str
    api_key: SecretStr
    call_timeout: float
    rate: int
    lease: float
    exempt: frozenset[str] = frozenset()
