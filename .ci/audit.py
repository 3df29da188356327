"""Looks up the security advisories for the package versions in the locks.

    python .ci/audit.py [--url URL] [LOCK …]

Exits with 1 for an advisory that ACCEPTED does not list. If the advisory service fails, prints the reason and exits
with 77, which CI shows as `not tested`, because a build must not depend on an external service.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

# All locks are listed, because pip-audit ignores a line `-r …` that includes another lock.
LOCKS = ["locks/app.lock", "locks/local.lock", "locks/dev.lock", "loadtest/tools/requirements.txt"]
# Accepted advisories: id and reason.
ACCEPTED: dict[str, str] = {}

SECONDS = 300
COMMAND = [
    str(Path(sys.executable).with_name("pip-audit")),
    # OSV is a database of advisories. By default, pip-audit asks the package index, and skips packages not found there.
    *("--vulnerability-service", "osv"),
    *("--require-hashes", "--disable-pip", "--format", "json", "--desc", "on", "--progress-spinner", "off"),
]
# pip-audit's error message contains one of these texts if the advisory service has caused the error.
OF_THE_SERVICE = ("requests.exceptions.", "ConnectionError", "ServiceError")


class ServiceUnavailableError(Exception):
    """The advisory service does not respond, or it fails. `str()` is the reason, in one line."""


def look_up(locks: list[str], url: str | None) -> list[dict[str, Any]]:
    """Returns pip-audit's result for each package in `locks`. `url`: a service to use instead of OSV, or None.

    Raises ServiceUnavailableError if the advisory service fails. Exits if pip-audit fails for another reason.
    """
    options = [word for lock in locks for word in ("--requirement", lock)] + (["--osv-url", url] if url else [])
    try:
        ended = subprocess.run(
            [*COMMAND, *options], capture_output=True, encoding="utf-8", check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        raise ServiceUnavailableError(f"no answer within {SECONDS} s") from None
    if not ended.stdout:
        reason = (ended.stderr.strip().splitlines() or ["no output"])[-1]
        if any(word in ended.stderr for word in OF_THE_SERVICE):
            raise ServiceUnavailableError(reason)
        sys.exit(f"pip-audit failed: {reason}")
    packages: list[dict[str, Any]] = json.loads(ended.stdout)["dependencies"]
    return packages


def judge(packages: list[dict[str, Any]]) -> list[str]:
    """Returns a line for each advisory that is not accepted, and for each package that was not checked."""
    lines = []
    for package in packages:
        if "skip_reason" in package:
            lines.append(f"not checked: {package['skip_reason']}")
            continue
        for found in package["vulns"]:
            if not ACCEPTED.keys() & {found["id"], *found["aliases"]}:
                fixed = ", ".join(found["fix_versions"]) or "no version"
                name = f"{package['name']} {package['version']}"
                lines.append(f"{name}: {found['id']}, fixed in {fixed}: {found['description']}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locks", nargs="*", metavar="LOCK", default=LOCKS)
    parser.add_argument("--url", help="of another service that speaks as OSV does")
    options = parser.parse_args()
    try:
        packages = look_up(options.locks, options.url)
    except ServiceUnavailableError as reason:
        print(f"advisories: NOT LOOKED UP: {reason}")  # noqa: T201  # what CI shows
        sys.exit(77)
    if lines := judge(packages):
        sys.exit("\n".join(lines))
    accepted = f", besides the accepted {', '.join(ACCEPTED)}" if ACCEPTED else ""
    print(f"advisories: none for {len(packages)} packages{accepted}")  # noqa: T201  # what CI shows


if __name__ == "__main__":
    main()
