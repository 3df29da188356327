"""Builds the documentation site and checks its internal links. Fails if a link is broken. Needs no network.

python .ci/docs.py [--folder FOLDER] [--repository URL] [--serve [--port PORT]]
"""

import argparse
import sys
import time
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

try:
    from docs_site.build import SiteError, build
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is missing; `make docs-site` installs it")
from docs_site.check import check

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / ".run" / "docs", help="where to build it")
    parser.add_argument("--repository", metavar="URL", help="where links to source files lead (default: nowhere)")
    parser.add_argument("--serve", action="store_true", help="serve it on loopback, until Ctrl-C")
    parser.add_argument("--port", type=int, default=8003)
    options = parser.parse_args()
    folder = options.folder.resolve()
    if not options.serve:
        built(folder, options.repository)
        return
    with opened(options.port, folder / "html") as server:  # before the build, to fail at once if the port is in use
        built(folder, options.repository)
        say(f"Serving on http://127.0.0.1:{server.server_port} (Ctrl-C ends it)")
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def built(folder: Path, repository: str | None) -> None:
    """Builds and checks the site. Exits with a list of the problems, if there are any."""
    started = time.monotonic()
    say("building the site …")
    try:
        pages = build(ROOT, folder, repository)
    except SiteError as error:
        sys.exit(f"error: the site cannot be built:\n{error}")
    checked = check(pages)
    if checked.broken:
        sys.exit("\n".join(["error: broken links:", *checked.broken]))
    say(f"{checked.pages} pages, {checked.links:,} links followed, in {time.monotonic() - started:.1f} s")
    say(f"file://{pages}/index.html")


def opened(port: int, pages: Path) -> ThreadingHTTPServer:
    """Returns an HTTP server for the folder `pages`, which need not exist yet. Exits if the port is in use."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(pages))
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        sys.exit(f"error: port {port} of 127.0.0.1: {error.strerror}; another one: make docs-serve ARGS='--port 8004'")


def say(text: str) -> None:
    """Prints one line at once, even if the output is a file."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
