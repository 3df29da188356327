"""The server serves any ASGI app."""

import signal
import sys
import textwrap

from tests.harness.service import Web, clean_environment

ANOTHER = textwrap.dedent("""
    from loguru import logger
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route
    from app.settings import load_settings
    from app.telemetry.logging import configure_logging
    from app.web.server.serve import serve

    async def hello(request):
        return PlainTextResponse("hello")

    settings = load_settings()
    configure_logging(settings)
    serve(Starlette(routes=[Route("/", hello)]), settings, drain=lambda: logger.info("The app drains"))
""")


def test_another_app() -> None:
    """The server calls `drain`, and the app needs nothing else of this project."""
    command = [sys.executable, "-c", ANOTHER]
    environment = clean_environment(port=0, log_format="json", drain_delay=0)
    with Web(environment, command=command) as web, web.client() as client:
        assert client.get("/").text == "hello"
        assert web.stop(signal.SIGTERM) == 0
        web.wait_for("The app drains")
