"""Looks up the security advisories for what the locks pin.

    python .ci/audit.py [--url URL] [LOCK …]

Ends with 1 for an advisory that is not accepted below. Where advisories cannot be had (no network, a service that is
down), one line says so and why: a build must not depend on somebody else's service.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

# The other locks hold nothing that the largest does not.
LOCKS = ["requirements-dev.lock", "loadtest/tools/requirements.txt"]
# Advisories that we live with: their id, and why.
ACCEPTED: dict[str, str] = {}

SECONDS = 300
COMMAND = [
    str(Path(sys.executable).with_name("pip-audit")),
    # A database of advisories alone; pip-audit's default asks a package index, and takes a mirror's 404 for a no.
    *("--vulnerability-service", "osv"),
    *("--require-hashes", "--disable-pip", "--format", "json", "--desc", "on", "--progress-spinner", "off"),
]
# What stands in pip-audit's complaint when it is the service that failed, and not pip-audit.
OF_THE_SERVICE = ("requests.exceptions.", "ConnectionError", "ServiceError")


class NotToBeHadError(Exception):
    """The service does not answer, or not with advisories; `str()` is its reason, in a line."""


def look_up(locks: list[str], url: str | None) -> list[dict[str, Any]]:
    """pip-audit's word on each package of `locks`. Raises NotToBeHadError; ends the process where pip-audit fails."""
    options = [word for lock in locks for word in ("--requirement", lock)] + (["--osv-url", url] if url else [])
    try:
        ended = subprocess.run([*COMMAND, *options], capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise NotToBeHadError(f"no answer within {SECONDS} s") from None
    if not ended.stdout:
        reason = (ended.stderr.strip().splitlines() or ["it said nothing"])[-1]
        if any(word in ended.stderr for word in OF_THE_SERVICE):
            raise NotToBeHadError(reason)
        sys.exit(f"pip-audit failed: {reason}")
    packages: list[dict[str, Any]] = json.loads(ended.stdout)["dependencies"]
    return packages


def judge(packages: list[dict[str, Any]]) -> list[str]:
    """A line for each advisory that is not accepted, and for each package that could not be looked at."""
    lines = []
    for package in packages:
        if "skip_reason" in package:
            lines.append(f"not looked at: {package['skip_reason']}")
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
    except NotToBeHadError as reason:
        print(f"advisories: NOT LOOKED UP: {reason}")  # noqa: T201  # what CI shows
        return
    if lines := judge(packages):
        sys.exit("\n".join(lines))
    accepted = f", besides the accepted {', '.join(ACCEPTED)}" if ACCEPTED else ""
    print(f"advisories: none for {len(packages)} packages{accepted}")  # noqa: T201  # what CI shows


if __name__ == "__main__":
    main()
