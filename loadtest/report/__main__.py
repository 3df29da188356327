"""Redraws the pictures that README and CHANGELOG show where they are stale.

python -m loadtest.report            redraw them
python -m loadtest.report --check    fail instead
"""

import sys

from loadtest.report import documents, pictures


def main(check: bool) -> None:
    stale = documents.stale_pictures()
    if stale and check:
        sys.exit(f"stale: {', '.join(stale)}; run `make docs`")
    if stale:
        pictures.write(*documents.newest("history"))


if __name__ == "__main__":
    main(check="--check" in sys.argv[1:])
