"""The changelog as a course: it is written newest first, and a reader of the site begins with the oldest chapter."""

import re
from dataclasses import dataclass

from docs_site.markdown import headings, promoted, slug
from docs_site.pages import CHANGELOG, Page

INDEX = "course/index.md"
NOTES = "course/notes.md"
OTHERS = "course/other_releases.md"
TITLES = {NOTES: "Costs, tips and sources", OTHERS: "Versions without a chapter"}
SECTION = 2  # level of the heading of a version
# Stands before the heading of a chapter, and is its name.
ANCHOR = re.compile(r'<a id="(\S+)"></a>\n+\Z')


@dataclass(frozen=True)
class Course:
    """`pages` are in reading order. `anchors` has the page of each of the changelog's anchors."""

    pages: list[Page]
    anchors: dict[str, str]


def read_course(changelog: str) -> Course:
    """Makes a page of each release that has an anchor, one of the other releases, and one of the end."""
    introduction, sections = _sections(changelog)
    oldest = max(place for place, (anchor, _) in enumerate(sections) if anchor)
    texts = {INDEX: introduction}
    for anchor, section in reversed(sections[: oldest + 1]):
        if anchor:
            texts[f"course/{anchor}.md"] = promoted(section)
    texts[NOTES] = _gathered(NOTES, [section for _, section in sections[oldest + 1 :]])
    texts[OTHERS] = _gathered(OTHERS, [section for anchor, section in sections[:oldest] if not anchor])
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


def _gathered(target: str, sections: list[str]) -> str:
    return "\n".join([f"# {TITLES[target]}\n", *sections])
