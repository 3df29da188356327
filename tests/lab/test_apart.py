"""The deployed process has nothing of the lab."""

import subprocess
import sys
import textwrap

from app.settings import NEWEST
from tests.harness.service import clean_environment

LAB = {"lab.application", "lab.lab_settings", "httpx", "polars", "psycopg", "psycopg_pool"}


def test_the_web_process_imports_nothing_of_it() -> None:
    """The web process with the newest release imports nothing of the lab."""
    script = f"""
        import sys
        from app.settings import WebSettings
        from app.web.main import create_app
        create_app(WebSettings())
        assert "app.web.releases.{NEWEST.value}" in sys.modules
        print(*sys.modules)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    ended = subprocess.run(
        command, env=clean_environment(), capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    assert LAB.isdisjoint(ended.stdout.split())
