"""The changelog as a course: it is written newest first, and a reader of the site begins with the oldest chapter."""

import re
from dataclasses import dataclass

from docs_site.markdown import headings, promoted, slug
from docs_site.pages import CHANGELOG, Page

INDEX = "course/index.md"
NOTES = "course/notes.md"
TITLE = "Figures, versions and sources"
SECTION = 2  # level of the heading of a version
# Stands before the heading of a chapter, and is its name.
ANCHOR = re.compile(r'<a id="(\S+)"></a>\n+\Z')


@dataclass(frozen=True)
class Course:
    """`pages` are in reading order. `anchors` has the page of each of the changelog's anchors."""

    pages: list[Page]
    anchors: dict[str, str]


def read_course(changelog: str) -> Course:
    """Makes a page of each release, oldest first, and one of the sections after them."""
    introduction, sections = _sections(changelog)
    texts = {INDEX: introduction}
    texts |= {f"course/{anchor}.md": promoted(section) for anchor, section in reversed(sections) if anchor}
    texts[NOTES] = "\n".join([f"# {TITLE}\n", *(section for anchor, section in sections if not anchor)])
    anchors = {"": INDEX} | {anchor: f"course/{anchor}.md" for anchor, _ in sections if anchor}
    for target, text in texts.items():
        for heading in headings(text):
            anchors.setdefault(slug(heading.text), f"{target}#{slug(heading.text)}")
    return Course([Page(CHANGELOG, target, text) for target, text in texts.items()], anchors)


def _sections(changelog: str) -> tuple[str, list[tuple[str | None, str]]]:
    """Returns what precedes the first section, and each section with its anchor, if it has one."""
    starts = [heading.start for heading in headings(changelog) if heading.level == SECTION]
    cut = [changelog[start:end] for start, end in zip([0, *starts], [*starts, len(changelog)], strict=True)]
    # An anchor stands at the end of the text that precedes its section.
    anchors = [found[1] if (found := ANCHOR.search(text)) else None for text in cut[:-1]]
    texts = [ANCHOR.sub("", text) for text in cut]
    return texts[0], list(zip(anchors, texts[1:], strict=True))
