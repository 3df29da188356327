"""Resolves pyproject.toml into locks/*.lock, with hashes and without download addresses.

python .ci/locks.py [--upgrade]     write the locks
python .ci/locks.py --check         fail if a lock no longer matches pyproject.toml
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from install import UV, pip_options, uv_environment

LOCKS = Path("locks")
# Each set contains the previous set. So each lock includes the previous lock, and lists only the additional packages.
SETS = {"app": [], "local": ["--group", "local"], "dev": ["--group", "dev"]}
HEADER = "# Resolved from pyproject.toml by `make lock`.\n"
COMPILE = [
    *(UV, "pip", "compile", "pyproject.toml", "--quiet", "--universal", "--python-version", "3.11"),
    *("--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
]


def resolved(upgrade: bool) -> dict[str, str]:
    """Returns the text of each lock. Exits if uv fails.

    If `upgrade` is false, uv keeps the versions of the existing locks. The versions in the largest lock constrain the
    smaller locks.
    """
    packages: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(LOCKS, folder, dirs_exist_ok=True)
        largest = Path(folder) / "dev.lock"
        for name, groups in reversed(SETS.items()):
            output = Path(folder) / f"{name}.lock"
            options = ["--constraint", str(largest)] if output != largest else ["--upgrade"] if upgrade else []
            command = [*COMPILE, *groups, *options, "--output-file", str(output)]
            if subprocess.run(command, check=False, env=uv_environment(pip_options())).returncode:
                sys.exit(f"uv failed to resolve {name}.lock, see its error above")
            packages[name] = re.findall(r"^\S.*\n(?: .*\n)*", output.read_text(encoding="utf-8"), re.MULTILINE)
    return nested(packages)


def nested(packages: dict[str, list[str]]) -> dict[str, str]:
    """Returns the text of each lock. A lock includes the previous lock, and leaves out the packages of that lock."""
    locks = {}
    included: list[str] = []
    include = ""
    for name in SETS:
        locks[name] = "".join([HEADER, include, *(text for text in packages[name] if text not in included)])
        included, include = packages[name], f"-r {name}.lock\n"
    return locks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a lock is stale")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions allowed")
    options = parser.parse_args()
    os.chdir(Path(__file__).parents[1])
    locks = {LOCKS / f"{name}.lock": text for name, text in resolved(options.upgrade).items()}
    stale = [str(path) for path, text in locks.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if options.check and stale:
        sys.exit(f"stale: {', '.join(stale)}; run `make lock`")
    for path, text in locks.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
