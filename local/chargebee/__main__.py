"""`python -m local.chargebee`: runs the stand-in for Chargebee's API alone, in a terminal or a container."""

import argparse
import json
import sys

from pydantic import ValidationError

from app.errors import ConfigurationError
from app.settings.text import http_url
from local import local_guard
from local.chargebee.behaviour import Behaviour
from local.ports import listen


def _value(name: str, given: object) -> object:
    return "(hidden)" if name == "api_key" else given


def main() -> None:
    options = vars(_parser().parse_args())
    host, port, as_json, hosts = (options.pop(name) for name in ("host", "port", "json", "hosts"))
    try:
        behaviour = Behaviour.model_validate({name: value for name, value in options.items() if value is not None})
        # This import is not at the top of the file, so that `--help` works without the server's dependencies.
        from local.chargebee.server import BACKLOG, create_app, serve
    except ValidationError as error:
        flaws = ((str(flaw["loc"][0]), flaw) for flaw in error.errors())
        shown = (f"--{name.replace('_', '-')}={_value(name, flaw['input'])}: {flaw['msg']}" for name, flaw in flaws)
        sys.exit("\n".join(f"error: {line}" for line in shown))
    except ImportError as error:
        sys.exit(f"error: the Chargebee stand-in needs the dependency group `local`: run `make .venv/local` ({error})")
    try:
        listener = listen(host, port, "the Chargebee stand-in", BACKLOG)
    except ConfigurationError as error:
        sys.exit(f"error: {error}")
    url = http_url(host, listener.getsockname()[1])
    # Clients can already connect: the socket listens, and the system queues connections until the server runs.
    sys.stdout.write((json.dumps({"url": url}) if as_json else f"Stand-in for Chargebee on {url}") + "\n")
    sys.stdout.flush()
    serve(create_app(behaviour, hosts=[*hosts, host]), listener)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.chargebee",
        description="Runs a stand-in for Chargebee's API, with a web page that shows which invoices are closed. To"
        " register invoices, send them with PUT to /_/invoices.",
        allow_abbrev=False,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, default=8002, help="port to listen on; 0 picks a free port (default: %(default)s)"
    )
    local_guard.add_option(parser)
    parser.add_argument("--json", action="store_true", help="print the server's URL as JSON")
    for name, field in Behaviour.model_fields.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}", metavar="VALUE", help=f"{field.description} (default: {field.default})"
        )
    return parser


if __name__ == "__main__":
    main()
