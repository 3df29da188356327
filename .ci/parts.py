"""The generated parts of the documents that the Makefile lists as GENERATED (`make docs`), for cog's generators.

A generator is one line, `<!-- [[[cog show(known_as()) ]]] -->`; it sees the names in `__all__`.
"""

from itertools import pairwise

from pydantic_settings import BaseSettings

from app.settings import ProcessSettings, Release, WebSettings, WorkerSettings
from app.settings.text import allowed, default, prefix_of, variable
from lab.report import documents as lab_documents
from loadtest import capacity as capacity_text
from loadtest.report import captions, cells, documents, readme, tables
from loadtest.report.figures import PUBLISHED
from local import lessons
from local.settings import LocalSettings
from tests.web.bounds import BOUNDS

__all__ = [
    "bounds",
    "capacity_text",
    "code",
    "diff",
    "documents",
    "known_as",
    "lab_documents",
    "local_settings",
    "process_settings",
    "readme",
    "releases",
    "show",
    "web_settings",
    "worker_settings",
]


def show(part: str) -> None:
    """Prints `part` into the document, between empty lines: without them, Markdown takes it for the comment's."""
    print(f"\n{part}\n")  # noqa: T201


def bounds() -> str:
    """Returns the table of what a client can do to the two servers. tests/web/test_uvicorn.py sees each outcome."""
    rows = [f"| {one.what} | {one.ours} | {one.uvicorn} |" for one in BOUNDS]
    return "\n".join(["| what a client does | from v11 on | v01 to v10, on uvicorn |", "|---|---|---|", *rows])


def releases() -> str:
    """The history with its published figures, and those that the load test measured in the published machine's time."""
    calibrated, _ = documents.newest("calibrated")
    history, _ = documents.newest("history")
    rows = [
        "| release | change | published: success, throughput, p50, p99 | measured, in that machine's time |",
        "|---|---|---|---|",
    ]
    for release in Release:
        link = f"[{release.value}](#{release.value})"
        figures = PUBLISHED.get(release.value)
        shown = "–" if figures is None else cells.short(**figures)
        of_release = tables.calibrated_short if release.enqueues else tables.inline_short
        measured = of_release(calibrated if release.enqueues else history, release.value)
        rows.append(f"| {link} | {lessons.change(release)} | {shown} | {measured} |")
    of_v01 = f"v01: `{history.command}` on commit `{history.environment.commit}`"
    of_v01 = cells.label(of_v01, history.of("published", Release.V01_INLINE))
    caption = f"{captions.conditions(calibrated)}; medians of {calibrated.repeats} repeats. {of_v01}."
    return "\n".join([*rows, "", f"*The last column:* {caption}"])


def known_as() -> str:
    """The map of docs/local.md, from the names that people know to the flag that switches them on."""
    rows = ["| known as | `APP_RELEASE=` |", "|---|---|"]
    rows += [f"| {name} | `{release.value}` |" for release, name in lessons.KNOWN_AS.items()]
    return "\n".join(rows)


def process_settings() -> str:
    """The variables of the web process and the worker."""
    return table(ProcessSettings)


def web_settings() -> str:
    """The variables of the web process alone."""
    return table(WebSettings, without=ProcessSettings)


def worker_settings() -> str:
    """The variables of the worker alone."""
    return table(WorkerSettings, without=ProcessSettings)


def local_settings() -> str:
    """The variables of `python -m local`."""
    return table(LocalSettings)


def table(settings: type[BaseSettings], without: type[BaseSettings] | None = None) -> str:
    """Returns a table of settings as Markdown, without those of another class."""
    rows = ["| variable | default | allowed | what it does |", "|---|---|---|---|"]
    for name, field in settings.model_fields.items():
        if without is not None and name in without.model_fields:
            continue
        value = default(field.default) if field.default is not None else ""
        shown = f"`{value}`" if value else ""  # an empty pair of backticks would begin a longer code span
        rows.append(f"| `{variable(name, prefix_of(settings))}` | {shown} | {allowed(field)} | {field.description} |")
    return "\n".join(rows)


def code(name: str) -> str:
    """`v01`: the code of that release."""
    return "\n".join(["```python", *lessons.code(lessons.find(name)), "```"]).replace("```python\n\n", "```python\n")


def diff(name: str) -> str:
    """`v03`: what that release changes in the one before."""
    new = lessons.find(name)
    old = next(before for before, after in pairwise(Release) if after is new)
    return "\n".join(["```diff", *lessons.diff(old, new), "```"])
