"""Numbers in the prose of documents come from results: see `.ci/figures.py`."""

import re
from pathlib import Path

import pytest

import figures

ROOT = Path(__file__).parents[1]
# What is no figure: generated parts and figures, code, links, titles, numbers of lists and issues, names, versions,
# dates, statuses, exit codes, the halves of a picture.
NO_FIGURE = (
    r"<!-- \[\[\[cog.*?\[\[\[end\]\]\] -->|\d[\d,.]*<!--= .*?-->|```.*?```|`[^`]*`|\]\([^)]*\)",
    r"^#[^\n]*$|^ *\d+\. |<[^>]*>|\b[vp]\d+\w*|#\d+|\b\d{4}-\d\d-\d\d\b",
    r"\b(?:Python|OpenSSL|Debian|Starlette|FastAPI|Kubernetes|WSL)(?:'s)? \d[\d.]*(?: (?:and|to|or) \d[\d.]*)?",
    r"\b(?:200|408|422|429|502|503)s?\b(?! (?:webhooks|requests|a second|ms|s\b|%)|/s)|[Ee]xit code \d+(?: or \d+)?",
    r"\b\d+\.\d+\.\d+\b|\bUTF-8\b|\b(?:upper|lower) half\b",
)
NUMBER = re.compile(
    r"(?<![\w.,])\d[\d,.]*|\b(?:twice|half|a third|a fifth|a tenth|two thirds|two fifths|three quarters)\b"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten) times\b"
)
PUBLISHED = "published by others"
CONDITION = "a condition of the measurement, which its command fixes"
REPORT = "the report's own rule"
CONSTANT = "how the service or its deployment is set"
DEFAULT = "a default of AnyIO, uvicorn, httpx, Kubernetes, Linux or a load balancer"
BY_HAND = "measured by hand: the command and the commit that the page names"
EXAMPLE = "an example, or arithmetic"
NO_FIGURE_EITHER = "counts nothing that was measured"
# The passages with other numbers, each with the reason; … is anything. A passage that is gone fails, too.
TYPED: dict[str, dict[str, str]] = {
    "loadtest/RESULTS.md": {
        "The 8 ms of SQS": CONDITION,
        "64 senders keep": CONDITION,
        "(500 webhooks a second for 5 s, with a time-out of 30 s)": PUBLISHED,
        "faster than 3.0. So clients load only as many CAs as 3.0 loads": "a version of OpenSSL",
        "of 500 requests a second on the published pod": PUBLISHED,
        "Of 100 webhooks": NO_FIGURE_EITHER,
        '"about 5 ms"': PUBLISHED,
        "answered 200 a second": PUBLISHED,
        "(Published: 38 and 45 %": PUBLISHED,
        "200 webhooks a second leave 5 ms": "arithmetic, from the published rate",
        "at 50 ms of latency to 800 webhooks a second": "arithmetic",
        "of a webhook at 200": CONDITION,
        "is twice in the queue": NO_FIGURE_EITHER,
        "on , , on a core…(0.6–1.0) ms |": "three systems, each with its own Python",
    },
    "deploy/CAPACITY.md": {
        "us-east-1": "a name",
        "(At the 80 % at which the HPA aims": CONSTANT,
        "the worker's 4 as well": CONSTANT,
        "to 70,000 calls": PUBLISHED,
        "in November 2026": "a date",
        "after 14 days": CONSTANT,
        "[each 64 KB": PUBLISHED,
        "KB is 1,024 bytes": NO_FIGURE_EITHER,
    },
    "docs/operating.md": {
        "exits with code 0": CONSTANT,
        "waits for 10 s (on AWS for 60 s)": CONSTANT,
        "of the last 15 minutes": CONSTANT,
        "exit with 1": CONSTANT,
        "for 15 days": CONSTANT,
        "redelivers (3 days and 7 hours)": PUBLISHED,
        "keeps events for 90 days": PUBLISHED,
        "one invoice in 50": CONDITION,
        "one usage item in 20": CONDITION,
        "up to 1 MiB": CONSTANT,
    },
    "docs/lab.md": {
        "on port 8002": CONSTANT,
        "side of 1 in every repeat": REPORT,
        "a factor of 1.5": REPORT,
        "near 1, that proves": REPORT,
        "is three times the throughput": "arithmetic: one task's time instead of three",
        "2,000 users": CONDITION,
        "is near 1:": REPORT,
        "both sides of 1,": REPORT,
        "took four times as long as 3.6: with it, the first ratio was 1.76…client's 6.76": "the lab on dec211e",
        "500 requests a second are sent, so whatever can do 500 does 500": PUBLISHED,
        "medians of 1.3 s for sync and 8.3 s for async": PUBLISHED,
        "(500 users who get 35.6 answers a second wait for 14 s on average, so 1.3 s": PUBLISHED,
        "blocks the event loop for half a second": CONDITION,
        "The published 3.61": PUBLISHED,
        "at fib 15": CONDITION,
        "is parsed twice": NO_FIGURE_EITHER,
        "with one of 1 s, of 40 are lost": CONDITION,
    },
    "docs/questions/README.md": {
        "at 100 % of a core": NO_FIGURE_EITHER,
        "stop at 40 requests at a time; threads: 41": DEFAULT,
        "steps of 100 ms": DEFAULT,
        "is processed twice; a customer is charged twice": NO_FIGURE_EITHER,
        "B's is 0…larger than 1…*Near 1…less than a tenth…side of 1.": REPORT,
    },
    "docs/questions/background_tasks.md": {
        "one of the 40 threads": DEFAULT,
        "40 tasks in threads stop": DEFAULT,
        "may be done twice": NO_FIGURE_EITHER,
        "kills after 30 s": DEFAULT,
    },
    "docs/questions/blocking.md": {
        "block for half a second": EXAMPLE,
        "one of 40 threads": DEFAULT,
        "With 500 users": CONDITION,
    },
    "docs/questions/cpu_throttling.md": {
        "shows 30 % of the limit, and is 100 to 300 ms": EXAMPLE,
        "for each 100 ms: 250m are 25 ms…30 ms…25 ms…75 ms": EXAMPLE,
    },
    "docs/questions/deadlock.md": {
        "one of 40 threads": DEFAULT,
        "with 40 and 10, fifty": EXAMPLE,
    },
    "docs/questions/def_or_async_def.md": {
        "one of 40 threads": DEFAULT,
    },
    "docs/questions/disconnect.md": {
        "cancelled half-way": NO_FIGURE_EITHER,
        "ExceptionGroup: a 500.": "a status",
    },
    "docs/questions/keep_alive_resets.md": {
        "uvicorn does after 5 s": DEFAULT,
        "load balancer after 60 s": DEFAULT,
        "idle connections for 65 s": CONSTANT,
    },
    "docs/questions/large_responses.md": {
        "list of 10,000 rows…takes 50 ms": EXAMPLE,
    },
    "docs/questions/observing.md": {
        "falls by 70 %": PUBLISHED,
        "stores 1 MiB": CONSTANT,
        "−70 % on an endpoint": PUBLISHED,
    },
    "docs/questions/one_call_per_request.md": {
        "takes 10 ms for a call": CONDITION,
    },
    "docs/questions/python_and_server.md": {
        "Debian's [3.13 and 3.11 took": "versions of Python",
    },
    "docs/questions/shared_client.md": {
        "Chargebee's (3.29)": "a version of the SDK",
        "(100 for httpx)": DEFAULT,
    },
    "docs/questions/tokens.md": {
        "stops at 40…process: 41.…lends 40…The 41st": DEFAULT,
        "With 2,000 users instead of 500": CONDITION,
    },
    "docs/questions/use_a_release.md": {
        "each is a 500.": "a status",
    },
    "docs/questions/cold_clients.md": {
        "took 7.9 to 11.5 s in five runs…0.7 to 0.9 s": BY_HAND,
    },
    "docs/questions/connecting_at_once.md": {
        "over TLS: 40 webhooks": CONDITION,
        "took 1,064 ms with threads ( ), 614 ms with ten ( ), and 216 ms": BY_HAND,
    },
    "docs/questions/exactly_once_billing.md": {
        "(30 minutes at Chargebee)": PUBLISHED,
    },
    "docs/questions/graceful_stop.md": {
        "under 100 requests": CONDITION,
        "4 of 664": "deploy/k8s/PROOF.md",
    },
    "docs/questions/liveness_502.md": {
        "5 of 2,500 requests": PUBLISHED,
        "time-out of 1 s": DEFAULT,
    },
    "docs/questions/overload.md": {
        "only twice the capacity": EXAMPLE,
        "1,000 webhooks a second": CONDITION,
        "at twice the capacity, when…for 5 s…for 10 s": EXAMPLE,
        "at twice its capacity, on": CONDITION,
        "At three times its capacity": CONDITION,
    },
    "docs/questions/rewrite.md": {
        "In attacks of 20 s, on": BY_HAND,
    },
    "docs/questions/pool_of_ten.md": {
        "With 100 threads": CONSTANT,
        "used 6.1 ms of CPU for each webhook, and 3.0 ms": BY_HAND,
    },
    "docs/questions/who_is_not_let_in.md": {
        "since 2022": "a date",
        "answered 3 probes, the slowest after 5.1 s…61, the slowest after 2.3 s": BY_HAND,
    },
    "README.md": {
        "installs 170 MB": "the size that make prints before it installs",
        "made twice, even": NO_FIGURE_EITHER,
        "bold above 1.1": REPORT,
    },
    "CHANGELOG.md": {
        "0.86 times the CPU that…takes half of that": "ten duets of v10 on both servers, and of v11, on d5abcb6",
        "0.1 s longer": CONDITION,
        "a tenth of a second": CONDITION,
        "for 19 webhooks": CONDITION,
        "of 19 webhooks": CONDITION,
        '"20 webhooks at once" and "500/s for 5 s"': "names of buttons",
        "Send 5,000 webhooks, 100 at a time": CONDITION,
        "takes half a second": CONDITION,
        "200 webhooks at once": CONDITION,
        "At 500/s,": CONDITION,
        "with 100 ms more": CONDITION,
        "within 30 s": CONDITION,
        "take 0.67 s instead of 3.99 s": "printed in the picture, which is made with the profiles",
        "needs 0.30 s": "printed in the picture",
        "twice as fast or slow": EXAMPLE,
        "(25 ms of each 100 ms)": CONDITION,
        "ten times a second: 400": EXAMPLE,
        "not 64 as before": CONSTANT,
        "rounds of half a second, which is 2.5 s": EXAMPLE,
        "two and a half rounds": EXAMPLE,
        "a tenth of a SendMessageBatch": EXAMPLE,
        "and 1 % of them were longer than": NO_FIGURE_EITHER,
        "refused body is read twice": NO_FIGURE_EITHER,
        "awaits ASGI's twice": NO_FIGURE_EITHER,
        "needs a token twice": NO_FIGURE_EITHER,
        "needs a thread twice": NO_FIGURE_EITHER,
        "at most twice the CPU time": "a goal",
        "the 201st webhook": CONSTANT,
        "eight times at once": CONSTANT,
        "64 connections": CONSTANT,
        '"pydantic, 5,686 bytes"': "a line of the output",
        "100 threads": CONSTANT,
        "instead of 40,": DEFAULT,
        "has 40 tokens": DEFAULT,
        "the 41st webhook": DEFAULT,
        "[38 variables remain": "a count of that version",
        "0.478 s of 1.240 s": PUBLISHED,
        "within half an hour": PUBLISHED,
        "the key's half hour": PUBLISHED,
        "gives up after 20 s": PUBLISHED,
        "allows 150, 1,000 or 3,500 calls": PUBLISHED,
        "sent 2,500 requests, 500 a second": PUBLISHED,
        "figure, of 1,000 requests": PUBLISHED,
        "$0.40 a million…us-east-1 (list…November 2026…64 KB once for each 64 KB…5.7 kB": PUBLISHED,
        "$0.80": "arithmetic, from the published price",
        "$0.40": "arithmetic, from the published price",
        "$0.04": "arithmetic, from the published price",
        "38 % of a thousand published…45 %": PUBLISHED,
        '"Como deixar…20x…20x…(slides in Portuguese, 2024)': PUBLISHED,
        "post says 150 requests a second, 256 ms and 99 %…158.58, 258 ms and 99.80 %": PUBLISHED,
        "of about 3,060 requests…241 got (8 %), 149 got": PUBLISHED,
        "(January 2025)": "a date",
        "(December 2025)": "a date",
        "(1984)": "a date",
    },
}


# New pages of questions are checked as well.
CHECKED = [
    *TYPED,
    *sorted({f"docs/questions/{file.name}" for file in (ROOT / "docs/questions").glob("*.md")} - {*TYPED}),
]


def prose(text: str) -> str:
    """Returns the text without what is no figure, on one line."""
    for pattern in NO_FIGURE:
        text = re.sub(pattern, " ", text, flags=re.DOTALL | re.MULTILINE)
    return " ".join(text.split())


def typed(text: str, allowed: dict[str, str]) -> list[str]:
    """Returns allowed passages that are gone, and what is around numbers that are neither generated nor allowed."""
    rest = prose(text)
    gone = []
    for passage in allowed:
        rest, times = re.subn(".*?".join(map(re.escape, passage.split("…"))), " ", rest)
        gone += [] if times else [passage]
    return [*gone, *(rest[max(0, found.start() - 40) : found.end() + 40] for found in NUMBER.finditer(rest))]


@pytest.mark.parametrize("name", CHECKED)
def test_numbers_in_prose_come_from_results(name: str) -> None:
    """Each number is generated, published by others, or has a reason in the list."""
    assert typed((ROOT / name).read_text(encoding="utf-8"), TYPED.get(name, {})) == []


@pytest.mark.parametrize(
    ("typed_number", "found"),
    [
        ("v11 answers 1,380 webhooks a second", 1),
        ("v11 takes twice as much", 1),
        ("It takes 9.2 ms", 1),
        ('It takes 9.2<!--= .1f calibrated("v07", "cpu") --> ms', 0),
        ("`APP_SQS_BATCHES=4` under v11 and Python 3.13 gives 503", 0),
        ("[500 ms](page.md#500-ms)", 1),
    ],
)
def test_what_is_a_number(typed_number: str, found: int) -> None:
    """Code, versions, statuses and generated figures are no numbers in prose."""
    assert len(typed(typed_number, {})) == found


@pytest.mark.parametrize("name", CHECKED)
def test_figures_in_prose_are_those_of_the_results(name: str) -> None:
    """Each generated figure is what its expression gives, as `make check` says, too."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert figures.written(text) == text


def test_a_figure_that_was_changed_by_hand_is_written_anew() -> None:
    """A number is replaced, and what stands around it is not."""
    text = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    changed = figures.FIGURE.sub(lambda found: f"99{found[2]}", text)
    assert changed != text
    assert figures.written(changed) == text
