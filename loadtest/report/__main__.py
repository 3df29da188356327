"""Redraws the pictures of README, CHANGELOG and docs/lab.md that are stale.

python -m loadtest.report            redraw them
python -m loadtest.report --check    fail if any is stale
"""

import sys

from loadtest.record.folders import ROOT
from loadtest.report import documents, lab_documents, lab_pictures, pictures


def main(check: bool) -> None:
    history, labs = documents.stale_pictures(), lab_documents.stale()
    stale = history + [str(file.relative_to(ROOT)) for lab in labs for file in lab_pictures.stale(*lab)]
    if stale and check:
        sys.exit(f"stale: {', '.join(stale)}; run `make docs`")
    if history:
        pictures.write(*documents.newest("history"))
    for lab in labs:
        lab_pictures.write(*lab)


if __name__ == "__main__":
    main(check="--check" in sys.argv[1:])
