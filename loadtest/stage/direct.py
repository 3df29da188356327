"""A queue in the stand-in for SQS, without toxiproxy, because a proxy would hide how connections end."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from loadtest.stage import queues
from loadtest.stage.stack import choose, variables
from loadtest.stage.stand_in import StandIn
from local.tls import certificates


@dataclass(frozen=True)
class DirectQueue:
    """A running queue. `variables`: the environment variables of a service that uses the queue."""

    process: StandIn
    url: str
    tls: bool
    variables: dict[str, str]


@contextmanager
def open_direct(*, tls: bool) -> Iterator[DirectQueue]:
    """Starts the stand-in with an empty queue, and kills the stand-in at the end.

    Raises FileNotFoundError if the stand-in is not built and Go is missing, CalledProcessError if it cannot be built,
    and the errors of `StandIn.start`.
    """
    with certificates() if tls else nullcontext() as files:
        process = choose("stand-in", files)
        assert isinstance(process, StandIn)
        try:
            process.start()
            sqs = queues.client(process.endpoint, files.ca if files else None)
            url = sqs.create_queue(QueueName="memory")["QueueUrl"]
            sqs.close()
            yield DirectQueue(process, url, tls, variables(process.endpoint, files, url))
        finally:
            process.kill()
