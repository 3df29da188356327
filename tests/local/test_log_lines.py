"""Tests the lines of several processes' logs in one terminal."""

import os

import pytest

from local.log_lines import prefixed


def test_each_line_has_its_prefix(capsys: pytest.CaptureFixture[str]) -> None:
    """Whole lines get the name, whatever parts they are written in; the end copies a line without a newline."""
    with prefixed("v02") as first, prefixed("v09") as second:
        os.write(first, b"one li")
        os.write(second, "naïve\n".encode())
        os.write(first, b"ne\nand \xff another")
    assert sorted(capsys.readouterr().err.splitlines()) == ["v02 │ and � another", "v02 │ one line", "v09 │ naïve"]
