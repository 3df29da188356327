"""The floor of comparisons: uvicorn alone, which only reads the body and responds. It has no validation and no queue.

python -m loadtest.peers.asgi_noop    listens on APP_PORT
"""

import os

import uvicorn
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, HTTPResponseStartEvent, Scope

ANSWER = b'{"status":"ignored","event_id":"ev_not_validated"}'
START: HTTPResponseStartEvent = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(ANSWER)).encode())],
    "trailers": False,
}


async def app(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    """Sends the same response to every request, when the request's body is complete."""
    while True:
        message = await receive()
        if message["type"] != "http.request" or not message["more_body"]:
            break
    await send(START)
    await send({"type": "http.response.body", "body": ANSWER, "more_body": False})


if __name__ == "__main__":
    uvicorn.run(
        app,
        port=int(os.environ["APP_PORT"]),
        loop="uvloop",
        http="httptools",
        lifespan="off",
        access_log=False,
        log_level="warning",
    )
