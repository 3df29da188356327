"""A dependency creates a boto3 session and clients for every request, which reads the service models again.

After terricain/aioboto3#385 (Creating resource object blocks execution).
"""

from typing import Annotated, Any

import boto3
from fastapi import Depends, FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "builds",
    "route": "GET /download/{key}",
    "cures": ["once"],
    "send": [("GET", "/download/a.txt", 2, 1)],
    "source": "https://github.com/terricain/aioboto3/issues/385",
}
SERVICES = ("s3", "ec2", "dynamodb", "sqs", "rds", "sns")
app = FastAPI()


def client(service: str) -> Any:
    session = boto3.Session("key", "secret", region_name="eu-west-1")
    return session.client(service)  # FAULT


async def aws() -> dict[str, Any]:
    return {service: client(service) for service in SERVICES}  # FAULT


@app.get("/download/{key}")
async def download(key: str, clients: Annotated[dict[str, Any], Depends(aws)]) -> dict[str, str]:
    parameters = {"Bucket": "files", "Key": key}
    return {"url": clients["s3"].generate_presigned_url("get_object", Params=parameters)}
