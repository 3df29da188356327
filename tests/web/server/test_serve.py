"""The server serves any ASGI app."""

import signal
import sys
import textwrap

from tests.harness.service import Web, clean_environment

ANOTHER = textwrap.dedent("""
    import socket
    from contextlib import asynccontextmanager
    from loguru import logger
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route
    from app.server.bridge import Bridge
    from app.server.limits import Limits
    from app.server.run import Server, Stop
    from app.settings import load_settings
    from app.telemetry.logging import configure_logging

    async def hello(request):
        return PlainTextResponse("hello")

    @asynccontextmanager
    async def lifespan():
        yield {}

    configure_logging(load_settings())
    listening = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/", hello)])
    url = "http://127.0.0.1:%d with hello" % listening.getsockname()[1]
    stop = Stop(lambda: logger.info("The app drains"), delay=0, patience=5)
    Server(listening, Limits(10, 10, 65), stop, url).run(lifespan, lambda state: Bridge(app, state))
""")


def test_another_app() -> None:
    """The server calls `drain`, and the app needs nothing else of this project."""
    command = [sys.executable, "-c", ANOTHER]
    environment = clean_environment(port=0, log_format="json", drain_delay=0)
    with Web(environment, command=command) as web, web.client() as client:
        assert client.get("/").text == "hello"
        assert web.stop(signal.SIGTERM) == 0
        web.wait_for("The app drains")
