"""Throughput of the embedded queue: messages per second, from 16 connections with bodies of 5.7 kB.

    python -m loadtest.bench_queue [--calls N]

Exits with 1 below the rate that the load tests require. Measure on an otherwise idle machine.
"""

import argparse
import asyncio
import json
import sys
import time
from typing import Any

import aiohttp

from local import embedded_aws
from local.sample_events import default_file

CONNECTIONS = 16
NEEDED = {"SendMessage": 1000, "SendMessageBatch": 4000}


async def measure(endpoint: str, calls: int) -> dict[str, float]:
    """Messages per second, by action. Requests are unsigned: a signature would cost more CPU than the queue."""
    credential = f"AWS4-HMAC-SHA256 Credential=local/20260101/{embedded_aws.REGION}/sqs/aws4_request"

    async with aiohttp.ClientSession(endpoint, connector=aiohttp.TCPConnector(limit=CONNECTIONS)) as client:

        async def call(action: str, data: dict[str, Any]) -> Any:
            headers = {"X-Amz-Target": f"AmazonSQS.{action}", "Authorization": credential}
            async with client.post("/", data=json.dumps(data), headers=headers) as response:
                assert response.ok, await response.text()
                return await response.json(content_type=None)

        queue = (await call("CreateQueue", {"QueueName": "bench"}))["QueueUrl"]
        body = default_file().read_text()
        batch = {"QueueUrl": queue, "Entries": [{"Id": str(number), "MessageBody": body} for number in range(10)]}
        requests = {"SendMessage": ({"QueueUrl": queue, "MessageBody": body}, 1), "SendMessageBatch": (batch, 10)}
        rates = {}
        for action, (data, messages) in requests.items():

            async def send(action: str = action, data: dict[str, Any] = data) -> None:
                for _ in range(calls // CONNECTIONS):
                    await call(action, data)

            started = time.perf_counter()
            await asyncio.gather(*(send() for _ in range(CONNECTIONS)))
            rates[action] = calls // CONNECTIONS * CONNECTIONS * messages / (time.perf_counter() - started)
        return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=4000, help="calls of each kind (default 4000)")
    options = parser.parse_args()
    with embedded_aws.start() as aws:
        rates = asyncio.run(measure(aws.endpoint, options.calls))
    for action, rate in rates.items():
        print(f"{action:<17} {rate:8,.0f} messages/s   (required {NEEDED[action]:,})")
    if any(rate < NEEDED[action] for action, rate in rates.items()):
        sys.exit("too slow")


if __name__ == "__main__":
    main()
