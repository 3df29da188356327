"""The stand-in as a child process: on loopback, on a free port, gone when its parent goes, whatever way that goes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.errors import ConfigurationError
from app.local.chargebee.behaviour import API_KEY


@dataclass(frozen=True)
class ChargebeeApi:
    """A running one; `url` is without a path (APP_CHARGEBEE_URL)."""

    url: str
    api_key: str
    pid: int


@contextmanager
def start(port: int = 0, **behaviour: str | float) -> Iterator[ChargebeeApi]:
    """Runs a stand-in inside the context; `behaviour` has the names of `Behaviour`'s fields.

    The child exits at the end of its standard input, so also when this process is killed. Raises ConfigurationError
    where it does not start.
    """
    command = [sys.executable, "-m", "app.local.chargebee", "--port", str(port), "--child"]
    command += [f"--{name.replace('_', '-')}={value}" for name, value in behaviour.items()]
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "TMPDIR", "LANG") if name in os.environ}
    # A session of its own: Ctrl-C in the terminal must not end it before the worker has stopped.
    with subprocess.Popen(
        command, env=kept, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            ready = child.stdout.readline()
            if not ready:
                raise ConfigurationError(f"the Chargebee stand-in did not start on port {port} (see its error above)")
            yield ChargebeeApi(json.loads(ready)["url"], str(behaviour.get("api_key", API_KEY)), child.pid)
        finally:
            child.kill()
            child.stdin.close()
