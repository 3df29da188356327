"""Starts the Chargebee stand-in on loopback, as a child process. The child ends when its parent ends or is killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from local import child
from local.chargebee.behaviour import API_KEY


@dataclass(frozen=True)
class ChargebeeApi:
    """A running stand-in. `url` has no path, as APP_CHARGEBEE_URL requires; `api_key` is the valid API key."""

    url: str
    api_key: str
    pid: int


@contextmanager
def start(port: int = 0, **behaviour: str | float) -> Iterator[ChargebeeApi]:
    """Runs a stand-in until the `with` block ends. `behaviour`: options of the class `Behaviour`, such as `rate=1000`.

    Port 0 picks a free port. Raises ConfigurationError if the stand-in does not start.
    """
    arguments = ["--port", str(port), "--json"]
    arguments += [f"--{name.replace('_', '-')}={value}" for name, value in behaviour.items()]
    with child.start("local.chargebee", arguments, f"the Chargebee stand-in did not start on port {port}") as started:
        yield ChargebeeApi(started.ready["url"], str(behaviour.get("api_key", API_KEY)), started.pid)
