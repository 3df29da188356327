"""Which stage of a webhook's way a stack belongs to, and a table of them."""

import re
from collections import Counter

from loadtest.fire.stacks import Stack
from loadtest.record.shares import Shares

OTHER = "other"
# Stage → its frames, `function (file:line)`, the most specific first.
STAGES = {
    name: re.compile(pattern)
    for name, pattern in {
        "log": r"telemetry/(lines|logging)\.py|loguru/",
        "respond": r"\.send \(.*uvicorn/|server/writer\.py|__call__ \(.*(web/answers|starlette/responses)\.py",
        "body": r"gate/body\.py|read_body \(|\.receive \(.*uvicorn/|\.body \(.*starlette/",
        "gate": r"web/(gate/|(middleware|problems|service)\.py)",
        "parse": r"app/events\.py|read_event \(|pydantic/",
        "message": r"sqs/message\.py",
        "wait": r"sqs/(group_commit|pending)\.py",
        "sign": r"sqs/signing\.py|botocore/(auth|signers)\.py",
        "send": r"\.(request|connect) \(.*sqs/(connection|pool)\.py",
        "receive": r"sqs/(answers|connection|pool)\.py|botocore/parsers\.py",
        "call": r"app/sqs/|botocore/|boto3/|aiohttp/|urllib3/|s3transfer/",
        "handler": r"web/(releases/|webhook\.py)",
        "framework": r"fastapi/|starlette/|anyio/",
        "server": r"uvicorn/|web/server/|asyncio/|uvloop/|httptools/",
    }.items()
}


def stage(stack: Stack) -> str:
    """The stage of the innermost frame that belongs to one; OTHER where none does."""
    for frame in reversed(stack):
        for name, pattern in STAGES.items():
            if pattern.search(frame):
                return name
    return OTHER


def by_stage(stacks: Counter[Stack]) -> dict[str, int]:
    """Samples of each stage, in the order of STAGES."""
    counted: Counter[str] = Counter()
    for stack, number in stacks.items():
        counted[stage(stack)] += number
    return {name: counted[name] for name in (*STAGES, OTHER) if counted[name]}


def table(shares: Shares) -> str:
    """A row for each stage: its share, and milliseconds of CPU of each webhook."""
    rows = ["| stage | share | CPU a webhook |", "| --- | ---: | ---: |"]
    for name, number in sorted(shares.stages.items(), key=lambda item: -item[1]):
        share = number / shares.samples
        rows.append(f"| {name} | {share:.1%} | {share * shares.cpu_ms:.3f} ms |")
    rows.append(f"| **all** | | **{shares.cpu_ms:.3f} ms** |")
    return "\n".join(rows)
