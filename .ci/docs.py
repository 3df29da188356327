"""Regenerates the parts of the documents that are made from code.

    python .ci/docs.py            write them
    python .ci/docs.py --check    fail where one is stale

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`.
"""

import argparse
import re
import sys
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from app.cli import lessons  # noqa: E402  # the path above has to come first
from app.settings import KNOWN_AS, Release, Settings  # noqa: E402
from app.settings.text import table  # noqa: E402
from loadtest import report  # noqa: E402
from loadtest.report import documents, tables  # noqa: E402
from loadtest.report.figures import PUBLISHED  # noqa: E402

MEASURED = {
    "throughput": documents.throughput,
    "published": documents.published,
    "saturated": documents.saturated,
    "sustained": documents.sustained,
    "bench": documents.bench,
    "tips": documents.tips,
}
# What each document must hold, once: a check that finds nothing to check has failed.
DOCUMENTS = {
    "README.md": ["known_as", "throughput", "settings"],
    "CHANGELOG.md": [
        "releases",
        "published",
        "sustained",
        "saturated",
        "bench",
        "tips",
        *(f"diff_{release.value[:3]}" for release in list(Release)[:0:-1]),
    ],
}


def releases() -> str:
    """The history with its published figures, and those that the load test measured."""
    history, _ = documents.newest("history")
    rows = [
        "| version | release | change | published: success, throughput, p50, p99 | measured here |",
        "|---|---|---|---|---|",
    ]
    for release in Release:
        link = f"[{release.value}](#{release.value})"
        figures = PUBLISHED.get(release.value)
        shown = "–" if figures is None else tables.short(**figures)
        measured = tables.short_measured(history.of("published", release.value))
        rows.append(f"| {release.version} | {link} | {lessons.change(release)} | {shown} | {measured} |")
    return "\n".join(rows)


def known_as() -> str:
    """README's map from the names that people know to the flag that switches them on."""
    rows = ["| known as | `APP_RELEASE=` |", "|---|---|"]
    rows += [f"| {name} | `{release.value}` |" for release, name in KNOWN_AS.items()]
    return "\n".join(rows)


def diff(name: str) -> str:
    """`diff_v03`: what that release changes in the one before."""
    new = lessons.find(name.removeprefix("diff_"))
    old = next(before for before, after in pairwise(Release) if after is new)
    return "\n".join(["```diff", *lessons.diff(old, new), "```"])


def generate(name: str) -> str:
    """The part called `name`. Raises KeyError for a name that nobody generates."""
    if name.startswith("diff_"):
        return diff(name)
    parts = {"settings": lambda: table(Settings), "releases": releases, "known_as": known_as, **MEASURED}
    return parts[name]()


def regenerate(text: str) -> str:
    """`text` with each generated part made anew."""
    return re.sub(
        r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)",
        lambda part: f"{part[1]}\n{generate(part[2])}\n\n{part[3]}",
        text,
        flags=re.DOTALL,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a part is stale")
    options = parser.parse_args()
    stale = []
    for name, parts in DOCUMENTS.items():
        document = ROOT / name
        current = document.read_text()
        if (found := re.findall(r"<!-- generated: (\w+) -->", current)) != parts:
            sys.exit(f"{name}: generated parts are {', '.join(found)}; expected: {', '.join(parts)}")
        if (fresh := regenerate(current)) != current:
            stale.append(name)
            if not options.check:
                document.write_text(fresh)
    if pictures := documents.stale_pictures():
        history, folder = documents.newest("history")
        stale += pictures
        if not options.check:
            report.pictures(history, folder)
    if options.check and stale:
        sys.exit(f"stale: {', '.join(stale)}; run `make docs`")


if __name__ == "__main__":
    main()
