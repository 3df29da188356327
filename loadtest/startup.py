"""The cost of a start: seconds to readyz, resident memory when idle, and the slowest imports.

The service runs as in a deployment, on an embedded queue in a separate process. Exits with 1 over a budget.
Measure on an otherwise idle machine.
"""

import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter

import click
import psutil

from loadtest.failures import exit_on_failure
from loadtest.record.folders import ROOT
from loadtest.stage.subject import surroundings
from local import embedded_aws
from local.readiness import is_ready, wait_until_ready

READY_SECONDS = 3.0
START_SECONDS = 60
IDLE_MIB = 110.0
SHOWN = 12


def start(endpoint: str) -> tuple[float, float]:
    """Returns the seconds from exec to the first 200 from readyz, and the resident MiB then.

    Raises SystemExit, with the service's log, if the service does not become ready.
    """
    settings = {
        "APP_PORT": "0",
        "APP_LOG_FORMAT": "json",
        "APP_SQS_QUEUE_URL": f"{endpoint}/000000000000/bench",
        "APP_BASIC_AUTH_USERNAME": "bench",
        "APP_BASIC_AUTH_PASSWORD": "bench",
    }
    environment = surroundings() | embedded_aws.EmbeddedAws(0, endpoint).environment() | settings
    started = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:

        def ready() -> bool:
            log.seek(0)
            found = re.search(r"Listening on (\S+)", log.read())
            return found is not None and is_ready(found[1])

        process = subprocess.Popen([sys.executable, "-m", "app", "web"], cwd=ROOT, env=environment, stderr=log)
        try:
            wait_until_ready(process, ready, START_SECONDS, interval=0.005)
            return time.monotonic() - started, psutil.Process(process.pid).memory_info().rss / 2**20
        except (ChildProcessError, TimeoutError) as error:
            log.seek(0)
            raise SystemExit(f"{error}: {log.read()}") from None
        finally:
            process.kill()
            process.wait()


def imports() -> list[tuple[str, float, int]]:
    """Returns, for each package that the default release imports, the milliseconds in its modules and their number."""
    program = "from app.settings import NEWEST; from app.web import main, releases, server; releases.load(NEWEST)"
    command = [sys.executable, "-X", "importtime", "-c", program]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stderr.splitlines()
    spent: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for line in lines[1:]:
        own, _, name = line.removeprefix("import time:").split("|")
        package = name.strip().partition(".")[0]
        spent[package] += int(own)
        modules[package] += 1
    return [(package, microseconds / 1000, modules[package]) for package, microseconds in spent.most_common()]


@click.command(help=__doc__)
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True)
def main(repeats: int) -> None:
    with exit_on_failure(), embedded_aws.start() as aws:
        runs = [start(aws.endpoint) for _ in range(repeats)]
    seconds = statistics.median(run[0] for run in runs)
    memory = statistics.median(run[1] for run in runs)
    print(f"seconds to readyz   {seconds:6.2f}   (median of {len(runs)}, budget {READY_SECONDS:g})")
    print(f"MiB resident, idle  {memory:6.1f}   (median of {len(runs)}, budget {IDLE_MIB:g})")
    packages = imports()
    print(f"\n{sum(spent for _, spent, _ in packages):6.0f} ms of imports, of which")
    for package, spent, modules in packages[:SHOWN]:
        print(f"{spent:6.0f} ms  {package} ({modules} modules)")
    if seconds > READY_SECONDS or memory > IDLE_MIB:
        sys.exit("over budget")
