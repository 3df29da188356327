"""Writes the pictures of docs/lab.md, and lab.html, again if any of them is stale.

python -m lab.report            write them
python -m lab.report --check    fail if any is stale
"""

import sys

from lab.report import documents, pictures
from loadtest.record.folders import ROOT


def main(check: bool) -> None:
    labs = documents.stale()
    stale = [str(file.relative_to(ROOT)) for lab in labs for file in pictures.stale(*lab)]
    if stale and check:
        sys.exit(f"stale: {', '.join(stale)}; run `make docs`")
    for lab in labs:
        pictures.redraw(*lab)


if __name__ == "__main__":
    main(check="--check" in sys.argv[1:])
