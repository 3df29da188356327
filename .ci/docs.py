"""Regenerates the parts of the documents that are made from code.

    python .ci/docs.py            write them
    python .ci/docs.py --check    fail where one is stale

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`.
"""

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from app.settings import Settings  # noqa: E402  # the path above has to come first
from app.settings.text import table  # noqa: E402

GENERATED: dict[str, Callable[[], str]] = {"settings": lambda: table(Settings)}
DOCUMENTS = ("README.md",)


def regenerate(text: str) -> str:
    """`text` with each generated part made anew. Raises KeyError for a name that nobody generates."""
    return re.sub(
        r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)",
        lambda part: f"{part[1]}\n{GENERATED[part[2]]()}\n\n{part[3]}",
        text,
        flags=re.DOTALL,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a part is stale")
    options = parser.parse_args()
    stale = []
    for name in DOCUMENTS:
        document = ROOT / name
        current = document.read_text()
        if (fresh := regenerate(current)) != current:
            stale.append(name)
            if not options.check:
                document.write_text(fresh)
    if options.check and stale:
        sys.exit(f"stale: {', '.join(stale)}; run `make docs`")


if __name__ == "__main__":
    main()
