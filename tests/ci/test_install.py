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


def test_pip_s_configuration(install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment precedes the file's [install], and that precedes [global]."""
    file = tmp_path / "pip.conf"
    file.write_text(
        "[global]\ncert = /global.pem\nindex-url = https://global/simple\ntrusted-host = a\n  b\n"
        "[install]\nindex-url = https://install/simple\ncert = /install.pem\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    monkeypatch.setenv("PIP_CERT", "/environment.pem")
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    options = install.pip_options()
    assert options["cert"] == "/environment.pem"
    assert options["index-url"] == "https://install/simple"
    assert options["trusted-host"].split() == ["a", "b"]


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


def test_no_network(install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says so, instead of pip's warnings, and pip does not try once more."""
    lock, calls = tmp_path / "made-up.lock", tmp_path / "calls"
    lock.write_text("made-up==1.0 --hash=sha256:0\n", encoding="utf-8")
    code = f"import sys; open({str(calls)!r}, 'a').write('called '); sys.exit('Retrying after NewConnectionError')"
    monkeypatch.setattr(install, "PIP_INSTALL", [sys.executable, "-c", code])
    with pytest.raises(SystemExit, match=r"^  no network: [^\n]*$"):
        install.main(str(lock), "1 MB")
    assert calls.read_text(encoding="utf-8") == "called "


def test_nothing_is_uninstalled(install: ModuleType) -> None:
    """The locks share one environment, so `uv pip sync` is not used, because it removes other packages."""
    assert install.UV_INSTALL[1:3] == ["pip", "install"]
    assert {"--require-hashes"} <= {*install.UV_INSTALL} & {*install.PIP_INSTALL}


def test_uv_s_progress(install: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """The steps are shown, the list of packages is not, and errors go to standard error."""
    lines = [
        "Using Python 3.13.5 environment at: .venv\n",
        "Resolved 75 packages in 520ms\n",
        "Downloading uvloop (3.8MiB)\n",
        " Downloaded uvloop\n",
        "Installed 75 packages in 59ms\n",
        " + uvloop==0.23.0\n",
        "error: Failed to download `uvloop`\n",
        "  cause: no route\n",
    ]
    assert [*install.uv_progress(lines)] == ["Downloading uvloop (3.8MiB)", "Installed 75 packages in 59ms"]
    assert capsys.readouterr().err == "error: Failed to download `uvloop`\n  cause: no route\n"


def test_only_uv_is_installed_first(install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip gets uv's lines of the lock, with version and hashes, and no other package."""
    lock, copy = tmp_path / "local.lock", tmp_path / "copy"
    package = "uv==2 \\\n    --hash=sha256:1\n"
    others = ("-r app.lock\na==1 \\\n    --hash=sha256:0\n", "z==3 \\\n    --hash=sha256:2\n")
    lock.write_text(package.join(others), encoding="utf-8")
    monkeypatch.setattr(install, "UV_LOCK", lock)
    program = "import shutil, sys; shutil.copy(*sys.argv[2:0:-1])"
    monkeypatch.setattr(install, "PIP_INSTALL", [sys.executable, "-c", program, str(copy)])
    assert install.install_uv()
    assert copy.read_text(encoding="utf-8") == package


def test_included_locks_count(install: ModuleType, tmp_path: Path) -> None:
    """The text of a lock has the packages of the locks that it includes."""
    for name, text in {"app": "a==1\n", "local": "-r app.lock\nb==1\n", "dev": "-r local.lock\nc==1\n"}.items():
        (tmp_path / f"{name}.lock").write_text(text, encoding="utf-8")
    assert install.text_of(tmp_path / "dev.lock") == "a==1\n-r app.lock\nb==1\n-r local.lock\nc==1\n"
