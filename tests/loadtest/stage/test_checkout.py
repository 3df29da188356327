"""Another commit, checked out of a small repository of git's, with an environment for the lock of that commit."""

import subprocess
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from loadtest.stage import environments


def wheel(folder: Path) -> str:
    """A line of a lock: a package with one module, `tiny`."""
    file = folder / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tiny.py", "NUMBER = 7\n")
        archive.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        archive.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.dist-info/RECORD", "")
    return f"tiny @ {file.as_uri()} --hash=sha256:{sha256(file.read_bytes()).hexdigest()}\n"


@pytest.mark.slow
def test_a_wrong_hash(tmp_path: Path) -> None:
    """pip refuses the package, and no environment is left that looks complete."""
    lock = tmp_path / "requirements.lock"
    lock.write_text(wheel(tmp_path).rpartition(":")[0] + ":" + "0" * 64)
    with pytest.raises(subprocess.CalledProcessError):
        environments.python(lock, tmp_path / "environments")
    assert [*(tmp_path / "environments").iterdir()] == []
