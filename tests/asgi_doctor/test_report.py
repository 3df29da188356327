"""The lines of text about findings."""

import re
from dataclasses import replace

import httpx

from asgi_doctor.advice import SLEEP, TOKENS
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.page import page
from asgi_doctor.report import blocking, described, times
from asgi_doctor.stacks import Location, chain
from tests.harness.service import NO_CAS

LINE = Location(__file__, 1, "pay")
PACKAGE = Location("/venv/lib/python3.11/site-packages/httpx/_api.py", 195, "get")
FOUND = Finding("shop.py", 14, "pay", "GET /pay", Kind.WAITS, 1, 0.4, 0.4, ("shop.py:14 in pay",), SLEEP, "sleep(1)")


def test_the_line_that_is_printed_at_once() -> None:
    """The printed source is the named line's, even if the stack has libraries, or nothing but libraries."""
    first, source = blocking(LINE, (LINE, PACKAGE), 0.114).splitlines()
    assert first == f"blocked for 0.11 s so far: {LINE} → …/httpx/_api.py:195 in get"
    assert source == '    """The lines of text about findings."""'
    assert blocking(PACKAGE, (PACKAGE, LINE._replace(file="/usr/x.py"), PACKAGE), 0.1).startswith(
        "blocked for 0.10 s so far: …/httpx/_api.py:195 in get\n"
    )


def test_a_long_chain() -> None:
    """The report shows the outermost and the innermost of 33 calls."""
    calls = chain(LINE, tuple(PACKAGE._replace(line=number) for number in range(32)))
    assert len(calls) == 11
    assert calls[0] == str(LINE)
    assert calls[5:7] == ("… 23 more", "…/httpx/_api.py:27 in get")


def test_how_often() -> None:
    """A finding that shares its blocks with other lines has an interval."""
    assert times(FOUND) == "once, about 0.40 s, longest 0.40 s"
    assert times(replace(FOUND, count=52, uncertainty=0.081)) == "52 times, about 0.40 s ± 0.08 s, longest 0.40 s"


def test_the_cure() -> None:
    """The diff replaces the user's line, unless the example belongs to another place. Then it only adds lines."""
    *_, caller, cure, example, before, after = described(replace(FOUND, coroutine="shop.py:20 in order"))
    assert caller == "      ← shop.py:20 in order, the nearest `async def`"
    assert cure.endswith("instead of `time.sleep(…)`")
    assert (example, before, after) == ("    For example:", "      - sleep(1)", "      + await asyncio.sleep(1)")
    lines = list(described(replace(FOUND, kind=Kind.STARVES, cure=TOKENS)))
    assert [line[6] for line in lines if line.startswith("      ")] == ["+"]


def test_the_page_for_every_screen() -> None:
    """The page has dark colours, fits a narrow screen, and shows the seconds in the words of the summary."""
    with page("shop:app", lambda: [FOUND]) as address, httpx.Client(base_url=address, verify=NO_CAS) as browser:
        html, [shown] = browser.get("/").text, browser.get("/findings").json()["findings"]
    assert "color-scheme: light dark" in html
    assert '<meta name="viewport" content="width=device-width">' in html
    assert shown["times"] == "once, about 0.40 s, longest 0.40 s"
    colours = re.findall(r"(?<!light-dark\()#[0-9a-f]{3}\b(?!\)|,)", html)
    assert colours == [], "a colour for one of both schemes only"
