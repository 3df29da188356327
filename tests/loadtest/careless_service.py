"""A service whose responses follow the contract, but which handles every tenth webhook with a fault.

python -m tests.loadtest.careless_service FAULT PORT ENDPOINT QUEUE_URL
"""

import json
import sys

import uvicorn
from fastapi import FastAPI, Request, Response

from loadtest.stage import queues

ONE_IN = 10


def create_app(fault: str, endpoint: str, queue_url: str) -> FastAPI:
    """Returns the service with a fault, or with `none`.

    `early`: acknowledges, but never sends the message. `alters`: sends other bytes. `other`: responds with the id of
    another event. `twice`: sends the message twice, as SQS may deliver a message twice.
    """
    app = FastAPI()
    sqs = queues.client(endpoint)
    count = 0

    @app.post("/webhooks/chargebee")
    async def receive(request: Request) -> Response:
        nonlocal count
        count += 1
        body = (await request.body()).decode()
        event_id = json.loads(body)["id"]
        now = fault if count % ONE_IN == 0 else "none"
        if now != "early":
            for _ in range(2 if now == "twice" else 1):
                sqs.send_message(QueueUrl=queue_url, MessageBody=body + " " if now == "alters" else body)
        answer = {"status": "queued", "event_id": "ev_of_another" if now == "other" else event_id}
        return Response(json.dumps(answer), media_type="application/json")

    return app


if __name__ == "__main__":
    _, fault, port, endpoint, queue_url = sys.argv
    uvicorn.run(create_app(fault, endpoint, queue_url), port=int(port), log_level="warning")
