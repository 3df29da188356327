"""Documents: shell blocks are run in a copy of the tree, and print what the text blocks show."""

import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from unittest import SkipTest

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, SkipParser
from sybil.typing import Parser

from app import __version__
from app.settings import NEWEST, Release
from lab.measurement.questions import QUESTIONS
from lab.measurement.studies import STUDIES
from local.ports import free_port
from local.readiness import wait_until_ready
from tests.cluster import summary
from tests.cluster.record import PROOF, RECORD

ROOT = Path(__file__).parents[1]

# What `make`, coverage and pytest-xdist (COLUMNS=80) pass on to their children is not set in a new terminal.
INHERITED = ("MAKE", "MFLAGS", "COVERAGE_", "COLUMNS")
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(INHERITED)}

# Commands that start all that they need. Each of them runs once, although CHANGELOG.md repeats some.
REPEATABLE = re.compile(r"((APP|INSTRUMENT)_\w+=\S+ )*\.venv/bin/python -m (local demo|lab measure) |make \.venv/dev$")

# A number that is not a part of a word, as it is in the name v03_threadpool.
NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?")


def pattern_of(line: str) -> str:
    """Returns the pattern of the lines that a document's line of sample output stands for."""
    pieces = []
    for piece in re.split(rf"({NUMBER.pattern}|…|[ ]+)", line.strip()):
        if piece == "…":
            pieces.append(".*")
        elif piece.isspace():
            pieces.append(" +")
        elif NUMBER.fullmatch(piece) and piece not in ("0", "200"):
            pieces.append(NUMBER.pattern)
        else:
            pieces.append(re.escape(piece))
    return "".join(pieces)


class Terminal:
    """Runs the commands of a document; `make run` stays open as it would in a terminal of its own.

    Ports 8000 and 9464 of the documents are replaced by free ones. The lab's experiments, which take an hour, are trial
    runs; with `quick`, demos of thousands of webhooks send 250, and attacks take 2 s: the output has the same form.
    Such a demo then sends ten webhooks at a time, not a hundred: beside other tests on a slow machine, v08 answered
    some of a hundred with 503.
    """

    def __init__(self, folder: Path, quick: bool) -> None:
        self.folder = folder
        self._quick = quick
        self._port, self._metrics_port = free_port(), free_port()
        self._log = folder / "make-run.log"
        self._server: subprocess.Popen[bytes] | None = None
        self._output = ""
        self._printed: dict[str, str] = {}

    def run(self, example: Example) -> None:
        if example.parsed.strip() == "make run":
            self._serve()
            return
        script = self._here(example)
        alone = all(REPEATABLE.match(line) for line in script.splitlines())
        self._output = "".join(map(self._once, script.splitlines())) if alone else self._ran(script)

    def _once(self, command: str) -> str:
        """Returns what the command prints, or has printed when it ran before."""
        if command not in self._printed:
            self._printed[command] = self._ran(command)
        return self._printed[command]

    def _ran(self, script: str) -> str:
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=900,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout
        return ended.stdout

    def compare(self, example: Example) -> None:
        """Asserts that each line stands in the output, in this order; … is anything.

        A number stands for any number, because a sample shows one run, and spaces for any spaces, because columns are
        aligned. Words match exactly, as do the numbers 0 (no webhook is lost) and 200 (the status).
        """
        rest = self._log.read_text(encoding="utf-8") if self._output == "" and self._server else self._output
        for line in self._here(example).strip().splitlines():
            found = re.search(pattern_of(line), rest)
            assert found is not None, f"{line!r} is not in {rest!r}"
            rest = rest[found.end() :]

    def make(self, *arguments: str) -> str:
        """Returns what `make` prints. Never installs, although in a copy the lock may be the newer file."""
        command = ["make", "--old-file=.venv/dev", *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=ENVIRONMENT, capture_output=True, encoding="utf-8", check=True
        ).stdout

    def _here(self, example: Example) -> str:
        text: str = example.parsed
        if self._quick:
            text = re.sub(r"--count \d{4}\b", "--count 250", text)
            text = text.replace("--count 250 --concurrency 100", "--count 250 --concurrency 10")
            text = re.sub(r"(loadtest/attack\.sh .*)", r"\1 --duration 2s", text)
        text = text.replace("-m lab measure --only", "-m lab measure --quick --only")
        text = re.sub(r"(-m lab --only \w+)$", r"\1 --quick", text, flags=re.MULTILINE)
        text = text.replace("127.0.0.1:8000", f"127.0.0.1:{self._port}")
        return text.replace("127.0.0.1:9464", f"127.0.0.1:{self._metrics_port}")

    def _serve(self) -> None:
        ports = {"APP_PORT": str(self._port), "APP_METRICS_PORT": str(self._metrics_port), "APP_LOCAL_LIVE_PORT": "0"}
        with self._log.open("wb") as log:
            self._server = subprocess.Popen(
                ["make", "run"],
                cwd=self.folder,
                env=ENVIRONMENT | ports,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            # The worker says so too, of its own address.
            ours = f"Listening on http://127.0.0.1:{self._port} "
            wait_until_ready(self._server, lambda: ours in self._log.read_text(encoding="utf-8"), 300)
        except (ChildProcessError, TimeoutError) as error:
            error.add_note(self._log.read_text(encoding="utf-8"))
            raise

    def close(self) -> None:
        if self._server is not None:
            os.killpg(self._server.pid, signal.SIGINT)  # Ctrl-C
            self._server.wait(60)


@pytest.fixture
def terminal(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    """Yields a terminal in a copy of the tracked and untracked files, with the virtual environment and built tools."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout.split("\0"):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tmp_path / name)
    for made in (".venv", "loadtest/tools/bin", "loadtest/sqs/bin"):
        if (ROOT / made).exists():
            (tmp_path / made).symlink_to(ROOT / made)
    for installed in ("local", "loadtest", "lab"):  # these tests run with `dev`, which holds them all
        (ROOT / ".venv" / installed).touch()
    terminal = Terminal(tmp_path, quick=request.config.getoption("--releases") != "all")
    yield terminal
    terminal.close()


# The documents whose commands a test runs, each with the reasons of the blocks that it skips.
FOLLOWED = {
    "README.md": [],
    "CHANGELOG.md": [],
    "docs/aws.md": [
        "needs an AWS account",
        "`make run` makes it here",
        "needs an AWS account",
        "needs an AWS account",
        "needs Docker",
    ],
    "docs/development.md": ["is what runs this"],
    "docs/lab.md": [],
    "docs/local.md": [],
    "docs/operating.md": ["needs an AWS account", "needs an AWS account"],
}


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in FOLLOWED])
def test_the_document_followed(terminal: Terminal, name: str) -> None:
    """From the first block to the last, in order: each command works, and prints what the document shows."""
    skipped = []

    blocks: list[Parser] = [
        CodeBlockParser("sh", terminal.run),
        CodeBlockParser("text", terminal.compare),
        SkipParser(),
    ]
    for example in Sybil(parsers=blocks).parse(ROOT / name).examples():
        try:
            example.evaluate()
        except SkipTest as reason:
            skipped.append(str(reason))
    assert skipped == FOLLOWED[name]


# `cog --check` does not notice a part whose markers are gone.
GENERATED = {
    "README.md": ["readme.steps()", "readme.capacity()", "listening()"],
    "CHANGELOG.md": [
        'diff("v12")',
        'instructions("v12", "v11")',
        'score("v12")',
        'diff("v11")',
        'functions("app.web.webhooks", "DirectWebhook.settled", "DirectWebhook._queued", "DirectWebhook._accept", '
        '"DirectWebhook._end")',
        'instructions("v11", "v10")',
        'score("v11")',
        'diff("v10")',
        'functions("app.sqs.lean", "LeanQueue.send_batch")',
        'instructions("v10", "v09")',
        'score("v10")',
        'diff("v09")',
        'functions("app.sqs.group_commit", "GroupCommit.submit", "GroupCommit._may_call", "GroupCommit._begin_calls",'
        ' "GroupCommit._free_slot")',
        'score("v09")',
        *(f'{part}("{release.value[:3]}")' for release in list(Release)[7:1:-1] for part in ("diff", "score")),
        'code("v02")',
        'score("v02")',
        'functions("app.web.releases.v01_inline", "open_clients", "receive", "bill")',
        "releases()",
        "documents.over_time()",
    ],
    "deploy/CAPACITY.md": ["capacity.table()"],
    "docs/history.md": ["bounds()"],
    "docs/local.md": ["known_as()"],
    "docs/operating.md": ["documents.billing()"],
    "docs/settings.md": ["process_settings()", "web_settings()", "worker_settings()", "local_settings()"],
    "docs/lab.md": [
        "lab_documents.verdicts()",
        *(f'lab_documents.study("{name}")' for name in STUDIES),
        *(f'lab_documents.answer("{name}")' for name in QUESTIONS),
    ],
    "docs/simulation.md": ["simulation.searched()", "simulation.hunted()"],
    "docs/questions/def_or_async_def.md": ["lab_documents.def_or_async_def()"],
    **{
        f"docs/questions/{name}.md": [f'lab_documents.number("{name}")']
        for name in QUESTIONS
        if name != "def_or_async_def"
    },
    "loadtest/RESULTS.md": [
        "index_table.table()",
        *(f"documents.{part}()" for part in ("overview", "calibrated", "published", "worker")),
        *(f"fault_tables.{part}()" for part in ("outage", "overload", "soak")),
    ],
}


@pytest.mark.parametrize("name", GENERATED)
def test_generated_parts_are_all_there(name: str) -> None:
    """Each generated part occurs once, in this order, with its end marker."""
    text = (ROOT / name).read_text(encoding="utf-8")
    markers = r"^<!-- \[\[\[cog show\((.*)\) \]\]\] -->\n\n(?s:.+?)\n\n<!-- \[\[\[end\]\]\] -->$"
    assert re.findall(markers, text, re.MULTILINE) == GENERATED[name]
    assert text.count("[[[") == 2 * len(GENERATED[name])


@pytest.mark.parametrize(
    ("output", "matches"),
    [
        ("200: 20 in 1.05 s (19/s); fastest 1,080 ms, v03_threadpool, 0 lost", True),
        ("200:  2 in 1.05 s (19/s); fastest 1,080 ms, v03_threadpool, 0 lost", True),
        ("503: 20 in 1.05 s (19/s); fastest 1,080 ms, v03_threadpool, 0 lost", False),
        ("200: 20 in 1.05 s (19/s); slowest 1,080 ms, v03_threadpool, 0 lost", False),
        ("200: 20 in 1.05 s (19/s); fastest 1,080 ms, v04_threadpool, 0 lost", False),
        ("200: 20 in 1.05 s (19/s); fastest 1,080 ms, v03_threadpool, 1 lost", False),
    ],
)
def test_a_sample_matches_other_runs(output: str, matches: bool) -> None:
    """Numbers match any number, except for 0 and 200; spaces match any spaces; words match exactly."""
    sample = "200: 20 in 0.46 s (43/s); fastest 360 ms, v03_threadpool, 0 lost"
    assert bool(re.search(pattern_of(sample), output)) is matches


def _recipe(terminal: Terminal, target: str, command: str) -> subprocess.CompletedProcess[str]:
    """Runs the line of the target that has `command`."""
    [line] = [line for line in terminal.make("--dry-run", target).splitlines() if command in line]
    return subprocess.run(["bash", "-c", line], cwd=terminal.folder, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.slow
def test_stale_parts_and_pictures_are_found_and_made_anew(terminal: Terminal) -> None:
    """A changed row and a changed picture fail `make check`. The commands of `make docs` restore both."""
    page = terminal.folder / "docs" / "local.md"
    [picture] = re.findall(
        r'src="(\S+capacity-light\.svg)"', (terminal.folder / "README.md").read_text(encoding="utf-8")
    )
    stale = [page, terminal.folder / picture]
    fresh = [file.read_text(encoding="utf-8") for file in stale]
    for file, text in zip(stale, fresh, strict=True):
        file.write_text(
            text.replace("| `v02_blocking` |", "| `v02_stale` |").replace("</svg>", "<g/></svg>"), encoding="utf-8"
        )
    for command in ("-m cogapp", "-m loadtest.report"):
        checked = _recipe(terminal, "check", command)
        assert checked.returncode != 0
        assert "run `make docs`" in checked.stdout + checked.stderr
        assert _recipe(terminal, "docs", command).returncode == 0
    assert [file.read_text(encoding="utf-8") for file in stale] == fresh


def test_the_proof_is_summed_up_as_recorded() -> None:
    """The table is what record.json gives; every check is counted, and each failed one is there in full."""
    rows: list[summary.Row] = json.loads(RECORD.read_text(encoding="utf-8"))
    [text] = re.findall(r"<!-- recorded -->\n\n(.*)\n\n<!-- end -->", PROOF.read_text(encoding="utf-8"), re.DOTALL)
    table = summary.table(rows)
    assert text == f"{table}\n\n{summary.where(rows)}"
    assert sum(int(cells.split(" | ")[1]) for cells in table.splitlines()[2:]) == len(rows)
    assert table.count("**NO**") == sum(row["holds"] == "NO" for row in rows)


def test_the_summary_has_the_worst_values() -> None:
    """The summary of two attacks has the lower success and rate, the slower 99th percentile, and all losses."""
    where = {"date": "2026-11-21 15:30", "kubernetes": "v1.34.3", "commit": "f3d2ce7"}
    audit = "audit: holds: 2 got 200, 0 of them lost"
    seen = [
        ("stops[a]", "failed requests", f"0 of 2: 100.00%, 9.9/s, p50 5 ms, p99 1,010 ms, 200:2; {audit}", "yes"),
        ("stops[b]", "failed requests", f"1 of 3: 66.67%, 10.1/s, p50 5 ms, p99 99 ms, 0:1 200:2; {audit}", "yes"),
        ("stops[a]", "restarts, failed probes", "0, 12", "yes"),
        ("stops[b]", "restarts, failed probes", "1, 9", "yes"),
        ("stops[b]", "audit", "audit: FAILS: 1 of 2 lost", "NO"),
    ]
    rows = [dict(zip(("section", "check", "seen", "holds"), row, strict=True)) | where for row in seen]
    assert summary.table(rows).splitlines()[2] == (
        "| stops: a, b | 5 | 66.67% success, 9.9/s, p99 1,010 ms; 1 of 5 without a 200, 0 of the others"
        " lost; restarts, failed probes: 1, 12 | **NO**: audit: audit: FAILS: 1 of 2 lost |"
    )
    assert summary.where(rows) == "2026-11-21, Kubernetes v1.34.3, `f3d2ce7`."
    moved = [*rows, rows[0] | {"section": "hpa", "commit": "abcdef0"}]
    assert summary.where(moved).endswith("; hpa: 2026-11-21, Kubernetes v1.34.3, `abcdef0`.")


def test_the_summary_has_no_lines_of_logs() -> None:
    """Checks with the same outcome are listed together, without the cluster's own messages."""
    where = {"date": "2026-11-21 15:30", "kubernetes": "v1.34.3", "commit": "f3d2ce7", "holds": "yes"}
    seen = {"a → b": "connected", "a → c": "blocked for 15 s: [Errno 111]", "a → d": "blocked for 15 s: timed out"}
    rows = [{"section": "policy", "check": check, "seen": one} | where for check, one in seen.items()]
    assert summary.table(rows).splitlines()[2] == "| policy | 3 | a → b: connected; a → c, a → d: blocked | yes |"


def test_listings_occur_in_the_file_they_name() -> None:
    """The lines of a listing occur in the file in this order. `…` stands for any text, or for any lines."""
    documents = [ROOT / "CHANGELOG.md", *(ROOT / "docs" / "questions").glob("*.md")]
    text = "".join(document.read_text(encoding="utf-8") for document in documents)
    listings = re.findall(r"<!-- from: (\S+) -->\n\n```none\n(.*?)```", text, re.DOTALL)
    assert len(listings) == text.count("<!-- from: ")
    for name, listing in listings:
        rest = (ROOT / name).read_text(encoding="utf-8")
        for line in listing.splitlines():
            pattern = ".*".join(re.escape(piece.strip()) for piece in line.split("…"))
            found = re.search(pattern, rest)
            assert found is not None, f"{name} has no {line!r}"
            rest = rest[found.end() :]


PARTS = ["Problem", "Change", "Try it", "What you should see", "Cost, and what it leaves open"]
WORDS = 600  # of a chapter

# Each term is explained in the section where a reader from the bottom up meets it first, and is in italics there.
TERMS = {
    "0.1.0": ("event loop", "coroutine", "dependency", "idempotency key", "probe"),
    "0.2.0": ("profile", "worker", "in flight", "backlog"),
    "0.3.0": ("thread pool",),
    "0.4.0": ("limiter", "tokens", "GIL"),
    "0.6.0": ("lifespan", "keep-alive", "CA bundle"),
    "0.7.0": ("duets",),
    "0.9.0": ("group commit", "slot"),
    "1.0.0": ("signature",),
    "1.4.0": ("scope", "task", "future"),
}


def test_terms_are_explained_where_they_are_first_used() -> None:
    """A term first occurs in the section of its version, in italics. Headings and code do not count."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\d\S+) – \S+\n(.*?)(?=^<a id|^## |\Z)", text, re.DOTALL | re.MULTILINE))
    prose = re.compile(r"```.*?```|`[^`]*`|^#[^\n]*$|\]\([^)]*\)|!\[[^]]*\]|^- [^\n]*$", re.DOTALL | re.MULTILINE)
    read = [(version, prose.sub("", sections[version])) for version in sorted(sections)]
    for version, terms in TERMS.items():
        for term in terms:
            first = re.compile(r"(\*?)\b" + term.replace(" ", r"\s+") + r"\b(\*?)", re.IGNORECASE)
            used = next((where, found) for where, words in read if (found := first.search(words)))
            assert used[0] == version, f"{term} is used in {used[0]} already"
            assert used[1][1] == used[1][2] == "*", f"{term} is used in {version} before it is explained"


# In English, they mean something else, or nothing. The course explains its own: see TERMS.
PRIVATE = re.compile(r"\b(duets?|DOUBTFUL|floor|overhead)\b")
GLOSSARY, GLOSSARY_WORDS = ROOT / "docs" / "glossary.md", 250


def test_private_words_lead_to_the_glossary() -> None:
    """A page that uses a word in this project's own sense links to the glossary, which is short."""
    assert len(GLOSSARY.read_text(encoding="utf-8").split()) <= GLOSSARY_WORDS
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "loadtest").glob("*.md"), ROOT / "deploy" / "CAPACITY.md"]
    texts = {page: page.read_text(encoding="utf-8") for page in pages if page != GLOSSARY}
    using = {page for page, text in texts.items() if PRIVATE.search(text)}
    assert {page.name for page in using} >= {"RESULTS.md", "lab.md", "operating.md"}
    assert [page for page in using if "glossary.md" not in texts[page]] == []


def test_pictures_exist() -> None:
    """The pictures of all documents are in the repository."""
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "loadtest" / "RESULTS.md"]
    shown = {
        (document, picture)
        for document in documents
        for found in re.findall(r"!\[[^]]+\]\((\S+)\)|(?:src|srcset)=\"(\S+)\"", document.read_text(encoding="utf-8"))
        for picture in found
        if picture
    }
    assert {document.name for document, _ in shown} >= {"README.md", "CHANGELOG.md", "lab.md", "RESULTS.md"}
    assert [picture for document, picture in shown if not (document.parent / picture).is_file()] == []


def test_the_course_is_complete() -> None:
    """The changelog has a section for each release, newest first, each with its parts.

    A chapter begins with one sentence and its picture. It ends with what to take away, and when to stop.
    """
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(
        r"^<a id=\"(\S+)\"></a>\n\n## (\S+) – (\S+)\n(.*?)(?=^<a id|^## |\Z)", text, re.DOTALL | re.MULTILINE
    )
    assert [(anchor, version) for anchor, version, *_ in sections] == [
        (release.value, release.version) for release in reversed(Release)
    ]
    for anchor, _, name, section in sections:
        assert name == anchor
        parts = re.findall(r"^### (.*)$", section, re.MULTILINE)
        start = rf"\n[^\n#!](?:[^\n]|\n(?!\n))+\n\n!\[[^]]+\]\(profiles/{anchor}\.svg\)\n\n\*Where to look:\*"
        assert re.match(start, section), f"{anchor} does not begin with its sentence, its picture and *Where to look:*"
        assert parts == PARTS
        end = r"\n\n\*\*[^*]+\.\*\*\s+Stop\s+here\s+if\s+[^.]+\.(\s+Next:\s+\[v\d\d\]\(#\w+\)\.)?\n*\Z"
        ending = re.search(end, section)
        assert ending, f"{anchor} does not end with what to take away, and when to stop"
        assert (ending[1] is None) == (anchor == NEWEST)
    assert text.index("<a id=") == text.index(f'<a id="{NEWEST}"></a>')


@pytest.mark.parametrize("release", list(Release), ids=str)
def test_a_release_says_what_it_is(release: Release) -> None:
    """The docstring of a release begins with its version, and has a problem, a change and a cost."""
    text = importlib.import_module(f"app.web.releases.{release.value}").__doc__ or ""
    assert re.match(rf"{re.escape(release.version)}: .+\.\n\nProblem: .+\nChange: .+\nCost: ", text, re.DOTALL), text


def written(text: str) -> str:
    """Returns the text without headings, code, generated parts and pictures."""
    kinds = (
        r"<!-- \[\[\[cog.*?end\]\]\] -->|<!--.*?-->|```.*?```|<picture>.*?</picture>",
        r"^#[^\n]*$|^<a id[^\n]*$|!\[[^]]*\]\([^)]*\)",
    )
    return re.sub("|".join(kinds), "", text, flags=re.DOTALL | re.MULTILINE)


def test_a_chapter_is_short() -> None:
    """The introduction and each section have at most 600 words of prose. What is more belongs to a page of docs."""
    for section in re.split(r"^(?=## )", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE):
        assert len(written(section).split()) <= WORDS, section.partition("\n")[0]


def test_a_release_has_one_name() -> None:
    """The text calls a release v02. Its version is only in the heading, and in tables."""
    versions = "|".join(re.escape(release.version) for release in Release)
    text = written((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    assert re.findall(rf"(?<![\d.])(?:{versions})(?![\d.]\d)", text) == []


def test_each_version_has_its_date() -> None:
    """The table at the end goes from the present version to the oldest one."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    dated = re.findall(r"^\| (\d\S+)(?: to (\S+))? \| \d{4}-\d\d-\d\d \|", text, re.MULTILINE)
    newest = [tuple(map(int, (last or first).split("."))) for first, last in dated]
    assert newest == sorted(newest, reverse=True)
    assert (dated[0][0], dated[-1][0]) == (__version__, next(iter(Release)).version)


def test_the_version_is_the_changelog_s() -> None:
    """The version is that of the first section. Some versions have no release of the history."""
    newest = re.search(r"^## (\d\S+) – ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__ == newest[1]


def test_the_iam_policy() -> None:
    """The policy is JSON, and allows only what the service calls."""
    [policy] = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "aws.md").read_text(encoding="utf-8"), re.DOTALL)
    [statement] = json.loads(policy)["Statement"]
    assert statement["Action"] == ["sqs:GetQueueUrl", "sqs:SendMessage"]
    calls = set(re.findall(r"client\.(\w+)\(", (ROOT / "app" / "sqs" / "native.py").read_text(encoding="utf-8"))) - {
        "client"
    }
    # SendMessageBatch needs the permission for SendMessage.
    assert calls == {"get_queue_url", "send_message", "send_message_batch"}
