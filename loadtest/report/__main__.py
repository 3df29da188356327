"""Redraws the SVG pictures of README.md and loadtest/RESULTS.md if any of them is stale.

python -m loadtest.report            redraw them
python -m loadtest.report --check    fail if any is stale
"""

import sys

from loadtest.report import documents


def main(check: bool) -> None:
    stale = documents.stale_pictures()
    if stale and check:
        sys.exit(f"stale: {', '.join(stale)}; run `make docs`")
    if stale:
        documents.draw_pictures()


if __name__ == "__main__":
    main(check="--check" in sys.argv[1:])
