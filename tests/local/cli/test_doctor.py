"""Tests `python -m local doctor`, the course's use of asgi-doctor."""

from pathlib import Path

import pytest

from tests.asgi_doctor.doctor_process import doctor


@pytest.mark.slow
def test_releases_as_cures(tmp_path: Path) -> None:
    """The summary names the releases of the course that show the cure, after the doctor's own."""
    (tmp_path / "shop.py").write_text(
        "import time\n\nfrom fastapi import FastAPI\n\napp = FastAPI()\n\n\n"
        '@app.get("/pay")\nasync def pay():\n    time.sleep(1)\n',
        encoding="utf-8",
    )
    with doctor(tmp_path, "--no-page", "--check", module=("local", "doctor")) as running:
        assert running.client.get("/pay").status_code == 200
        code, summary = running.end()
    assert code == 1
    assert "Cure: `await asyncio.sleep(…)`" in summary
    assert "→ v08_native_async: " in summary
