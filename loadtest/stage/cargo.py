"""Builds a Rust package with the versions and checksums in the file `packages.lock` of the package.

`packages.lock` is Cargo.lock without the registry's address. Cargo requires this address beside each package, so
`build` adds it. After `cargo update`, make packages.lock with `grep -v '^source' Cargo.lock > packages.lock`.
"""

import json
import re
import subprocess
from pathlib import Path


def binary(folder: Path) -> Path:
    """Returns the path of the program that `build` makes."""
    return folder / "target" / "release" / "peer"


def build(folder: Path, cargo: str) -> None:
    """Builds the package, which takes minutes the first time. Raises CalledProcessError if Cargo fails."""
    asked = [cargo, "metadata", "--no-deps", "--format-version", "1"]
    described = json.loads(subprocess.run(asked, cwd=folder, check=True, stdout=subprocess.PIPE).stdout)
    address = described["packages"][0]["dependencies"][0]["source"]
    packages = (folder / "packages.lock").read_text(encoding="utf-8")
    # Only packages from the registry have a checksum, so only these packages get the address.
    complete = re.sub(r"^(?=checksum = )", f'source = "{address}"\n', packages, flags=re.MULTILINE)
    (folder / "Cargo.lock").write_text(complete, encoding="utf-8")
    subprocess.run([cargo, "build", "--release", "--locked", "--target-dir", "target"], cwd=folder, check=True)
