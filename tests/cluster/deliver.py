"""Acts as Chargebee, inside the pod of Chargebee's stand-in: python -c "$(cat deliver.py)" URL COUNT RATE LIMIT.

Registers COUNT pending invoices and their usage, and posts their webhooks at RATE a second, every tenth webhook twice.
Delivers a webhook again until it gets 200. Waits until the invoices are closed, and prints the audit as JSON.
"""

import asyncio
import json
import sys
from collections import Counter

from app.settings import load_settings, load_worker_settings
from local.chargebee.sender import open_session, post
from local.http import ask
from local.money_audit import audit, wait
from local.sample_events import default_file, fresh_events
from local.seeding import pending, seed
from local.stand_ins import configured_stand_ins

REDELIVERED_SECONDS = 1.0  # pause before a redelivery; Chargebee's first pause is two minutes
TRIES = 60
PATIENCE_SECONDS = 300.0


async def deliver(url: str, bodies: list[bytes], rate: float) -> Counter[int]:
    """Posts the webhooks until each has got 200. Returns the number of responses by status; 0 means no response."""
    statuses: Counter[int] = Counter()
    loop = asyncio.get_running_loop()
    began = loop.time()

    async with open_session(url, load_settings(), connections=0) as client, asyncio.TaskGroup() as tasks:

        async def send(body: bytes) -> None:
            for _ in range(TRIES):
                status = (await post(client, body)).status
                statuses[status] += 1
                if status == 200:
                    return
                await asyncio.sleep(REDELIVERED_SECONDS)

        for number, body in enumerate(bodies):
            await asyncio.sleep(began + number / rate - loop.time())
            for _ in range(2 if number % 10 == 0 else 1):
                tasks.create_task(send(body))
    return statuses


def main(url: str, count: int, rate: float, limit: int) -> None:
    there = configured_stand_ins(load_worker_settings())
    ask(there.chargebee, "/_/behaviour", json.dumps({"rate": limit}).encode(), method="PUT")
    bodies = list(fresh_events(default_file().read_bytes(), count))
    events = list(pending(bodies))
    seed(there, bodies)
    print("seeded", flush=True)
    statuses = asyncio.run(deliver(url, bodies, rate))
    print("delivered", flush=True)
    wait(there.chargebee, events, PATIENCE_SECONDS, closed=lambda _: None, working=lambda: True)
    seen = audit(there.chargebee, events)
    found = {"statuses": statuses, "expected": len(events), "problems": seen.problems, "report": seen.report(count)}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
