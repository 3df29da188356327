"""The documentation site's sources: links, chapters, navigation; and the check of what was built from them."""

from pathlib import Path

import pytest

from docs_site.check import check
from docs_site.course import read_course
from docs_site.links import Links
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


@pytest.mark.parametrize("link", ["[x](nowhere.py)", "![x](nowhere.svg)", "[x](../CHANGELOG.md#nowhere)"])
def test_a_broken_link_is_named(root: Path, link: str) -> None:
    """The message names the page that has the link."""
    links = links_of(root)
    rewritten(links, link)
    [broken] = links.broken
    assert broken.startswith("docs/lab.md: ")
    assert "nowhere" in broken


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
