"""Runs the services that v01 uses instead of a queue: DynamoDB behind toxiproxy, and the stand-in for Chargebee's API.

The latencies and limits were chosen in advance, and not fitted to the published figure of v01. The latencies of the
original service's table and Chargebee site are not published.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from loadtest.stage import toxiproxy
from loadtest.stage.queues import Embedded
from loadtest.stage.stack import BUNDLES, settled
from loadtest.stage.toxiproxy import Proxy, Toxic
from local import embedded_aws
from local.chargebee.chargebee_start import ChargebeeApi
from local.chargebee.chargebee_start import start as start_chargebee
from local.embedded_aws import EmbeddedAws
from local.local_run import LocalRun
from local.resources import TABLE, create_table
from local.tls import Certificates, certificates

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

# The same latency as that of SQS in the attacks on the other releases.
TABLE_LATENCY_S = 0.008
# Seconds that a call to Chargebee takes, including the network. This is an assumption, because we found no source.
CALL_LATENCY_S = 0.15
# Chargebee's default limit for its highest plan:
# https://www.chargebee.com/docs/billing/2.0/kb/platform/what-are-the-chargebee-api-limits
CALLS_A_MINUTE = 3500


@dataclass(frozen=True)
class BillingStack:
    """A running DynamoDB table and a running stand-in for Chargebee. `proxy` adds latency to the table.

    All attacks can use the same table, because no two attacks have a customer in common.
    """

    process: Embedded
    toxics: list[Toxic]
    proxy: Proxy
    tls: Certificates
    chargebee: ChargebeeApi

    @property
    def far(self) -> str:
        """Returns the table's URL through the proxy, which adds latency."""
        return self.proxy.url

    @property
    def run(self) -> LocalRun:
        """Returns the endpoints without the added latency, in the form that `local.seeding` needs."""
        url, key = self.chargebee.url, self.chargebee.api_key
        return LocalRun(self.process.pid, self.process.endpoint, "", "", url, key, TABLE, str(self.tls.ca))

    @property
    def described(self) -> dict[str, Any]:
        """Returns a description of this stack, for the JSON file with the results."""
        chargebee = {"latency_s": CALL_LATENCY_S, "rate": CALLS_A_MINUTE, "errors": 0}
        return {"table": f"{self.process.name}, TLS", "toxics": self.toxics, "chargebee": chargebee}

    def environment(self) -> dict[str, str]:
        """Returns the variables of a service that calls the stand-in directly, and the table through the proxy."""
        aws = EmbeddedAws(0, self.far, self.tls.bundle).environment()
        chargebee = {"APP_CHARGEBEE_URL": self.chargebee.url, "APP_CHARGEBEE_API_KEY": self.chargebee.api_key}
        return settled(aws) | chargebee | {"APP_BILLING_TABLE": TABLE}


@contextmanager
def open_billing() -> Iterator[BillingStack]:
    """Runs the table, toxiproxy and Chargebee's stand-in on free ports inside the context."""
    toxics = [toxiproxy.latency(TABLE_LATENCY_S)]
    api = start_chargebee(latency=CALL_LATENCY_S, rate=CALLS_A_MINUTE)
    with certificates(BUNDLES["full"]) as tls, api as chargebee:
        aws = Embedded(tls)
        try:
            aws.start()
            with toxiproxy.proxy(aws.endpoint, toxics) as proxy:
                create_table(_client(aws.endpoint, tls))
                yield BillingStack(aws, toxics, proxy, tls, chargebee)
        finally:
            aws.kill()


def _client(endpoint: str, tls: Certificates) -> "DynamoDBClient":
    return boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        verify=str(tls.ca),
        region_name=embedded_aws.REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106  # the emulator accepts any key
        config=Config(retries={"total_max_attempts": 1}),
    )
