"""The documentation site's sources: links, chapters, navigation; and the check of what was built from them."""

from pathlib import Path

import pytest

from docs_site.check import check
from docs_site.course import read_course
from docs_site.links import Links
from docs_site.navigation import with_contents
from docs_site.pages import Page, target_of

CHANGELOG = """# Changelog

Begin [here](#v01_inline), or with the [sources](#sources).

<a id="v02_blocking"></a>

## 0.2.0 – v02_blocking

### Change

```diff
## no heading
```

## 0.1.1 – no chapter

<a id="v01_inline"></a>

## 0.1.0 – v01_inline

## Sources
"""
# 2 × 1 pixels.
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="1"></svg>'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("app/main.py", "docs/lab.md", "light.svg", "dark.svg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(SVG, encoding="utf-8")
    return tmp_path


def links_of(root: Path, repository: str | None = None) -> Links:
    pages = {name: target_of(name) for name in ("README.md", "docs/lab.md", "docs/questions/README.md")}
    return Links(root, pages, read_course(CHANGELOG).anchors, repository)


def rewritten(links: Links, text: str) -> str:
    return links.rewritten(Page("docs/lab.md", "docs/lab.md", text))


def test_chapters_are_in_reading_order() -> None:
    """The oldest chapter comes first. Sections that belong to no chapter are on two further pages."""
    pages = read_course(CHANGELOG).pages
    names = [page.target.removeprefix("course/") for page in pages]
    assert names == ["index.md", "v01_inline.md", "v02_blocking.md", "notes.md", "other_releases.md"]
    assert pages[2].text == "# 0.2.0 – v02_blocking\n\n## Change\n\n```diff\n## no heading\n```\n\n"
    assert "<a id" not in "".join(page.text for page in pages)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("[x](../README.md#try-it)", "[x](../index.md#try-it)"),
        ("[x](questions/README.md)", "[x](questions/index.md)"),
        ("[x](../CHANGELOG.md)", "[x](../course/index.md)"),
        ("[x](../CHANGELOG.md#v02_blocking)", "[x](../course/v02_blocking.md)"),
        ("[x](../CHANGELOG.md#sources)", "[x](../course/notes.md#sources)"),
        ("[a\nb](../app/main.py)", "a\nb (`app/main.py`)"),
        ("[`main.py`](../app/main.py)", "`app/main.py`"),
        ("[x](https://a.example/b)", "[x](https://a.example/b)"),
        ("`[x](nowhere)`", "`[x](nowhere)`"),
        ("```sh\n[x](nowhere)\n```", "```sh\n[x](nowhere)\n```"),
    ],
)
def test_links(root: Path, link: str, expected: str) -> None:
    """Links to pages stay links, links to sources become paths, and code is not changed."""
    links = links_of(root)
    assert rewritten(links, link) == expected
    assert links.broken == []


def test_links_to_sources_lead_to_the_repository(root: Path) -> None:
    """If the repository's address is known, a link to a source leads there."""
    links = links_of(root, "https://a.example/b")
    assert rewritten(links, "[x](../app)") == "[x](https://a.example/b/blob/HEAD/app)"


@pytest.mark.parametrize("link", ["[x](nowhere.py)", "![x](nowhere.svg)", "[x](../CHANGELOG.md#nowhere)"])
def test_a_broken_link_is_named(root: Path, link: str) -> None:
    """The message names the page that has the link."""
    links = links_of(root)
    rewritten(links, link)
    [broken] = links.broken
    assert broken.startswith("docs/lab.md: ")
    assert "nowhere" in broken


def test_pictures(root: Path) -> None:
    """Each theme has a picture of its own, with its size and a link to the file."""
    picture = '<picture><source media="x" srcset="../dark.svg"><img alt="a" src="../light.svg"></picture>'
    links = links_of(root)
    light, dark, end = rewritten(links, picture).split("</a>")
    image = '<img loading="lazy" width="2" height="1" alt="a" src="../light.svg">'
    assert light == f'<a href="../light.svg" class="only-light">{image}'
    assert dark == light.replace("light", "dark")
    assert end == ""
    assert links.files == {"light.svg", "dark.svg"}
    assert rewritten(links, "![a](../light.svg)") == f'<a href="../light.svg">{image}</a>'


def test_the_navigation_is_that_of_the_index() -> None:
    """The index gives captions and order. Other pages are below the next README, or under a caption of their own."""
    texts = {
        "docs/README.md": "# I\n\n## Learn\n\n[c](../course/index.md)\n\n## Diagnose\n\n[q](questions/index.md)\n",
        "docs/questions/README.md": "# Q\n\n[b](b.md) [a](a.md)\n",
    }
    sources = ("README.md", *texts, "docs/questions/b.md", "docs/questions/a.md", "docs/new.md")
    pages = [Page(name, target_of(name), texts.get(name, "# T\n\n## S\n")) for name in sources]
    made = with_contents([*pages, *read_course(CHANGELOG).pages])
    course = "/course/index\n/course/v01_inline\n/course/v02_blocking\n/course/notes\n/course/other_releases"
    contents = {"Learn": course, "Diagnose": "/docs/questions/index", "More": "/docs/index\n/docs/new"}
    shown = "".join(
        f"```{{toctree}}\n:caption: {caption}\n:hidden:\n\n{of}\n```\n\n" for caption, of in contents.items()
    )
    assert made["index.md"] == f"# T\n\n\n{shown}## S\n"
    assert made["docs/questions/index.md"].endswith(
        "```{toctree}\n:hidden:\n\n/docs/questions/b\n/docs/questions/a\n```\n\n"
    )


def test_the_check_follows_links(tmp_path: Path) -> None:
    """A missing file, a missing anchor, and a script of another host are found."""
    (tmp_path / "a.html").write_text(
        '<h1 id="here">A</h1><a href="b.html#there">b</a><a href="#here">a</a><a href="c.html">c</a>'
        '<a href="b.html#gone">b</a><a href="https://a.example">x</a><script src="//b.example/x.js"></script>',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<a name="there"></a>', encoding="utf-8")
    checked = check(tmp_path)
    assert (checked.pages, checked.links) == (2, 4)
    assert checked.broken == [
        "a.html: loads //b.example/x.js",
        "a.html: c.html: no such file",
        "a.html: b.html#gone: no such anchor",
    ]
