"""Another commit is checked out, from a small git repository, with an environment for the commit's lock."""

import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from app.errors import ConfigurationError
from loadtest.stage import environments
from loadtest.stage.checkout import checkout

AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@b")


def git(root: Path, *arguments: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(root), *AUTHOR, *arguments]
    return subprocess.run(command, env=clean, check=True, capture_output=True, encoding="utf-8").stdout


def wheel(folder: Path) -> str:
    """Makes a package with one module, `tiny`, and returns its line for a lock."""
    file = folder / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tiny.py", "NUMBER = 7\n")
        archive.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        archive.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.dist-info/RECORD", "")
    return f"tiny @ {file.as_uri()} --hash=sha256:{sha256(file.read_bytes()).hexdigest()}\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a repository: `first` has a module and a lock, `bare` has no lock, the newest commit has another module."""
    root = tmp_path_factory.mktemp("repository")
    git(root, "init", "--quiet")
    for tag, text, lock in (("bare", "'bare'", None), ("first", "'first'", wheel(root)), ("second", "'second'", None)):
        (root / "app.py").write_text(f"import tiny\nprint({text}, tiny.NUMBER)\n", encoding="utf-8")
        if lock is not None:
            (root / "locks").mkdir()
            (root / "locks" / "app.lock").write_text(lock, encoding="utf-8")
            git(root, "add", "locks")
        git(root, "add", "app.py")
        git(root, "commit", "--quiet", "--message", tag)
        git(root, "tag", tag)
    return root


@pytest.fixture
def clean(root: Path) -> Iterator[Path]:
    """Yields the repository. After the test, asserts that no worktree remains, only the cache of environments."""
    yield root
    assert git(root, "worktree", "list").count("\n") == 1
    assert {path.name for path in root.glob(".run/against/*")} <= {"environments", "lock"}


@pytest.mark.slow
def test_another_commit(clean: Path) -> None:
    """The commit's code runs with the commit's packages. A second call uses the same environment."""
    shutil.rmtree(clean / ".run", ignore_errors=True)
    used = []
    for _ in range(2):
        with checkout("first", clean) as there:
            assert git(clean, "rev-parse", "first").startswith(there.commit)
            command = [str(there.python), "-m", "app"]
            ended = subprocess.run(command, cwd=there.folder, check=True, capture_output=True, encoding="utf-8")
            assert ended.stdout == "first 7\n"
            used.append((there.python, there.python.parents[1].joinpath("pyvenv.cfg").stat().st_mtime_ns))
    assert used[0] == used[1]


@pytest.mark.parametrize(
    ("commit", "reason"),
    [
        ("nope", "has no such commit"),
        ("--all", "has no such commit"),
        ("HEAD:app.py", "has no such commit"),
        ("bare", "that commit has no locks/app.lock"),
    ],
)
def test_commits_that_cannot_be_used(clean: Path, commit: str, reason: str) -> None:
    """The error is one line with the reason."""
    with pytest.raises(ConfigurationError, match=reason), checkout(commit, clean):
        pass


@pytest.mark.slow
def test_a_wrong_hash(tmp_path: Path) -> None:
    """pip refuses the package, and the incomplete environment is removed."""
    lock = tmp_path / "app.lock"
    lock.write_text(wheel(tmp_path).rpartition(":")[0] + ":" + "0" * 64, encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError):
        environments.python(lock, tmp_path / "environments")
    assert [*(tmp_path / "environments").iterdir()] == []
