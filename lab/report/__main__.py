"""Draws the pictures of docs/lab.md and writes lab.html again, if one of these files is stale (missing or out of date).

python -m lab.report            write all files of each run that has a stale file
python -m lab.report --check    fail if a file is stale
"""

import sys

from lab.report import lab_documents, lab_pictures
from loadtest.record.folders import ROOT


def main(check: bool) -> None:
    runs = lab_documents.stale()
    stale = [str(file.relative_to(ROOT)) for run in runs for file in lab_pictures.stale(*run)]
    if stale and check:
        sys.exit(f"stale: {', '.join(stale)}; run `make docs`")
    for run in runs:
        lab_pictures.write(*run)


if __name__ == "__main__":
    main(check="--check" in sys.argv[1:])
