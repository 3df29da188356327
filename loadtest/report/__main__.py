"""Regenerates index.json and the SVG pictures of README.md and loadtest/RESULTS.md if any of them is stale.

python -m loadtest.report            regenerate them
python -m loadtest.report --check    fail if any is stale
"""

import sys

from loadtest.record import index
from loadtest.report import documents


def main(check: bool) -> None:
    index_is_stale = index.read() != (found := index.scan())
    if index_is_stale and not check:
        index.write(found)
    stale = [*(["loadtest/results/index.json"] if index_is_stale else []), *documents.stale_pictures()]
    if stale and check:
        sys.exit(f"stale: {', '.join(stale)}; run `make docs`")
    if stale:
        documents.draw_pictures()


if __name__ == "__main__":
    main(check="--check" in sys.argv[1:])
