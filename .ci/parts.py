"""Functions that generate parts of documents, for `make docs`. The Makefile lists these documents as GENERATED.

A document calls a function in one line, `<!-- [[[cog show(known_as()) ]]] -->`, which cog runs. The line may use the
names in `__all__`.
"""

import inspect
import json
import re
from importlib import import_module
from itertools import pairwise
from operator import attrgetter
from textwrap import dedent

from pydantic_settings import BaseSettings

from app import __version__
from app.settings import NEWEST, ProcessSettings, Release, WebSettings, WorkerSettings
from app.settings.text import allowed, default, prefix_of, variable
from lab.report import lab_documents
from loadtest.instructions import BUDGETS
from loadtest.report import capacity, captions, cells, documents, fault_tables, index_table, readme, tables
from loadtest.report.figures import PUBLISHED
from loadtest.report.languages import languages
from loadtest.report.score_table import score
from local import lessons
from local.local_settings import LocalSettings
from tests.simulation import record as simulation
from tests.web.bounds import BOUNDS

__all__ = [
    "bounds",
    "capacity",
    "code",
    "diff",
    "documents",
    "fault_tables",
    "functions",
    "index_table",
    "instructions",
    "known_as",
    "lab_documents",
    "languages",
    "listening",
    "local_settings",
    "process_settings",
    "readme",
    "releases",
    "score",
    "show",
    "simulation",
    "version",
    "web_settings",
    "worker_settings",
]


def show(part: str) -> None:
    """Prints `part` between empty lines, because Markdown would otherwise join `part` with cog's comments."""
    print(f"\n{part}\n")  # noqa: T201


def version(line: str) -> None:
    """Prints `line`, with the project's version in place of `{}`. For files that are not Markdown."""
    print(line.format(__version__))  # noqa: T201


def listening() -> str:
    """Returns the line that `python -m local` prints when it listens, as a Markdown block."""
    line = f"Listening on http://127.0.0.1:8000 with {NEWEST.value} ({__version__})"
    return "\n".join(["```text", line, "```"])


def bounds() -> str:
    """Returns a table: how our server and uvicorn limit harmful clients. tests/web/test_uvicorn.py tests each row."""
    rows = [f"| {one.what} | {one.ours} | {one.uvicorn} |" for one in BOUNDS]
    return "\n".join(["| what a client does | this project's server | uvicorn (v01 to v10) |", "|---|---|---|", *rows])


def instructions(after: str, before: str) -> str:
    """Returns a sentence: how many CPU instructions a webhook takes in the releases `after` and `before`."""
    python, budget = next(iter(json.loads(BUDGETS.read_text(encoding="utf-8")).items()))
    now, then = (budget[Release(release)] for release in (after, before))
    recorded = f"[recorded](loadtest/instructions.json) for Python {python}"
    return f"Today, without kernel and TLS, a webhook takes {now:,} instead of {then:,} instructions ({recorded})."


def releases() -> str:
    """Returns the table of releases: published figures, and ours in the published machine's time (v01: in our time)."""
    calibrated, _ = documents.newest("calibrated")
    history, _ = documents.newest("history")
    rows = [
        "| release | published: success, throughput, p50, p99 | measured, in that machine's time |",
        "|---|---|---|",
    ]
    for release in Release:
        link = f"[{release.value}](#{release.value})"
        figures = PUBLISHED.get(release.value)
        shown = "–" if figures is None else cells.short(**figures)
        of_release = tables.calibrated_short if release.enqueues else tables.inline_short
        measured = of_release(calibrated if release.enqueues else history, release.value)
        if not release.needs_asgi and calibrated.of("calibrated", release.value):
            measured += ", without overhead: do not compare"
        rows.append(f"| {link} | {shown} | {measured} |")
    of_v01 = f"v01: `{history.command}` on `{history.environment.commit}`"
    of_v01 = cells.label(of_v01, history.of("published", Release.V01_INLINE))
    caption = f"{captions.conditions(calibrated)}; medians of {calibrated.repeats} repeats. {of_v01}."
    return "\n".join([*rows, "", f"*The last column:* {caption}"])


def known_as() -> str:
    """Returns the table of docs/local.md that maps well-known names of techniques to values of APP_RELEASE."""
    rows = ["| known as | `APP_RELEASE=` |", "|---|---|"]
    rows += [f"| {name} | `{release.value}` |" for release, name in lessons.KNOWN_AS.items()]
    return "\n".join(rows)


def process_settings() -> str:
    """Returns the table of the variables that the web process and the worker share."""
    return table(ProcessSettings)


def web_settings() -> str:
    """Returns the table of the variables of the web process alone."""
    return table(WebSettings, without=ProcessSettings)


def worker_settings() -> str:
    """Returns the table of the variables of the worker alone."""
    return table(WorkerSettings, without=ProcessSettings)


def local_settings() -> str:
    """Returns the table of the variables of `python -m local`."""
    return table(LocalSettings)


def table(settings: type[BaseSettings], without: type[BaseSettings] | None = None) -> str:
    """Returns a Markdown table of the settings in the class `settings`, except those that are also in `without`."""
    rows = ["| variable | default | allowed | what it does |", "|---|---|---|---|"]
    for name, field in settings.model_fields.items():
        if without is not None and name in without.model_fields:
            continue
        value = default(field.default) if field.default is not None else ""
        shown = f"`{value}`" if value else ""  # an empty pair of backticks would begin a longer code span
        rows.append(f"| `{variable(name, prefix_of(settings))}` | {shown} | {allowed(field)} | {field.description} |")
    return "\n".join(rows)


def code(name: str) -> str:
    """Returns the code of a release as a Markdown block. `name`: `v01`, for example."""
    return "\n".join(["```python", *lessons.code(lessons.find(name)), "```"]).replace("```python\n\n", "```python\n")


def functions(module: str, *names: str) -> str:
    """Returns the code of the functions or methods `names`, such as `GroupCommit.submit`, without docstrings."""
    sources = [dedent(inspect.getsource(attrgetter(name)(import_module(module)))).strip() for name in names]
    shown = [re.sub(r'\n +""".*?"""$', "", source, count=1, flags=re.DOTALL | re.MULTILINE) for source in sources]
    return "\n".join(["```python", "\n\n\n".join(shown), "```"])


def diff(name: str) -> str:
    """Returns the diff between the previous release and the release `name`, for example `v03`."""
    new = lessons.find(name)
    old = next(before for before, after in pairwise(Release) if after is new)
    return "\n".join(["```diff", *lessons.diff(old, new), "```"])
