"""The installation of a lock: pip's configuration reaches uv, and pip takes uv's place."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "install.py"
# Stands in for both installers: writes its arguments into a file, and fails if one of them contains FAILS.
INSTALLER = """
import sys
with open(sys.argv[1], "a") as file:
    print(*sys.argv[3:], file=file)
print("error: no route")
sys.exit(any(sys.argv[2] in argument for argument in sys.argv[3:]))
"""


@pytest.fixture
def install() -> ModuleType:
    spec = importlib.util.spec_from_file_location("install", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_uv_gets_it(install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """uv gets pip's options in its own form, without folders that do not exist. Variables of uv take precedence."""
    monkeypatch.setenv("UV_INSECURE_HOST", "mine")
    options = {
        "index-url": "https://user:password@index/simple",
        "extra-index-url": "\nhttps://a/simple\nhttps://b/simple",
        "find-links": f"/does/not/exist {tmp_path} https://c/links",
        "trusted-host": "theirs",
        "cert": "/ca.pem",
    }
    environment = install.uv_environment(options)
    assert environment["UV_DEFAULT_INDEX"] == "https://user:password@index/simple"
    assert environment["UV_INDEX"] == "https://a/simple https://b/simple"
    assert environment["UV_FIND_LINKS"] == f"{tmp_path},https://c/links"
    assert environment["UV_INSECURE_HOST"] == "mine"
    assert environment["SSL_CERT_FILE"] == "/ca.pem"
    assert "PATH" in environment


@pytest.mark.parametrize(
    ("fails", "ran", "code"),
    [
        ("nothing", ["pip: uv.lock", "uv: made-up.lock"], 0),
        ("uv.lock", ["pip: uv.lock", "pip: made-up.lock"], 0),  # there is no uv for this machine
        ("uv:", ["pip: uv.lock", "uv: made-up.lock", "pip: made-up.lock"], 0),
        ("made-up.lock", ["pip: uv.lock", "uv: made-up.lock", "pip: made-up.lock"], 1),  # as with a wrong hash
    ],
)
def test_pip_takes_uv_s_place(
    install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str, ran: list[str], code: int
) -> None:
    """pip installs the lock if uv cannot be installed or fails. The exit code is that of the last installer."""
    lock, calls = tmp_path / "made-up.lock", tmp_path / "calls"
    lock.write_text("made-up==1.0 --hash=sha256:0\n", encoding="utf-8")
    stand_in = [sys.executable, "-c", INSTALLER, str(calls), fails]
    monkeypatch.setattr(install, "PIP_INSTALL", [*stand_in, "pip:"])
    monkeypatch.setattr(install, "UV_INSTALL", [*stand_in, "uv:"])
    assert install.main(str(lock), "1 MB") == code
    seen = [line.split() for line in calls.read_text(encoding="utf-8").splitlines()]
    assert [f"{line[0]} {Path(line[1]).name}" for line in seen] == ran


def test_nothing_is_uninstalled(install: ModuleType) -> None:
    """The locks share one environment, so `uv pip sync` is not used, because it removes other packages."""
    assert install.UV_INSTALL[1:3] == ["pip", "install"]
    assert {"--require-hashes"} <= {*install.UV_INSTALL} & {*install.PIP_INSTALL}
