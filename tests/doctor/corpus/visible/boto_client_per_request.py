"""Each request builds clients of boto3."""

import boto3
from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "builds",
    "route": "POST /messages",
    "cures": ["once"],
    "send": [("POST", "/messages", 3, 1)],
    "source": "",
}

app = FastAPI()


@app.post("/messages")
async def send():
    clients = [
        boto3.session.Session().client(name, "eu-west-1", aws_access_key_id="a", aws_secret_access_key="b")  # FAULT
        for name in ("sqs", "dynamodb", "s3")
    ]
    return len(clients)
