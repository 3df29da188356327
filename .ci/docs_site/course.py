"""Makes the changelog a course: reverses its order, because a reader of the site begins with the oldest release."""

import re
from dataclasses import dataclass

from docs_site.markdown import headings, promoted, slug
from docs_site.pages import CHANGELOG, Page

INDEX = "course/index.md"
NOTES = "course/notes.md"
TITLE = "Figures, versions and sources"
SECTION = 2  # a version's heading has this level
# The anchor right before a chapter's heading. Its id is the chapter's name.
ANCHOR = re.compile(r'<a id="(\S+)"></a>\n+\Z')


@dataclass(frozen=True)
class Course:
    """The course. `pages`: in reading order. `anchors`: the address on the site for each anchor of the changelog."""

    pages: list[Page]
    anchors: dict[str, str]


def read_course(changelog: str) -> Course:
    """Makes a page of the introduction, a page of each release (oldest first), and one page of all other sections."""
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
    """Returns the text before the first section, and each section with its anchor, or with None if it has no anchor."""
    starts = [heading.start for heading in headings(changelog) if heading.level == SECTION]
    cut = [changelog[start:end] for start, end in zip([0, *starts], [*starts, len(changelog)], strict=True)]
    # An anchor is at the end of the text before its section.
    anchors = [found[1] if (found := ANCHOR.search(text)) else None for text in cut[:-1]]
    texts = [ANCHOR.sub("", text) for text in cut]
    return texts[0], list(zip(anchors, texts[1:], strict=True))
