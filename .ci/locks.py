"""Resolves pyproject.toml into requirements*.lock, with hashes and without download addresses.

python .ci/locks.py [--upgrade]     write them
python .ci/locks.py --check         fail where they no longer say what pyproject.toml says
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CONSTRAINED = ["--constraint", "requirements-dev.lock"]
# The largest first: it constrains the versions of the others.
LOCKS = {
    "requirements-dev.lock": ["pyproject.toml", "--group", "dev"],
    "requirements-lab.lock": ["pyproject.toml", "--group", "lab", *CONSTRAINED],
    "requirements-loadtest.lock": ["pyproject.toml", "--group", "loadtest", *CONSTRAINED],
    "requirements-local.lock": ["pyproject.toml", "--group", "local", *CONSTRAINED],
    "requirements-docs.lock": ["--group", "docs", *CONSTRAINED],  # without the service
    "requirements.lock": ["pyproject.toml", *CONSTRAINED],
    "requirements-uv.lock": ["--group", "uv", *CONSTRAINED],  # alone: it installs the others
}
COMPILE = [
    *(str(Path(sys.executable).with_name("uv")), "pip", "compile"),
    *("--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-header", "--no-emit-index-url", "--no-emit-find-links"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a lock is stale")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions allowed")
    options = parser.parse_args()
    stale = []
    for name, arguments in LOCKS.items():
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / name
            if Path(name).exists():
                shutil.copy(name, output)  # uv keeps the versions in an existing output file
            upgrade = ["--upgrade"] if options.upgrade else []
            subprocess.run([*COMPILE, *arguments, *upgrade, "--output-file", str(output)], check=True)
            resolved = output.read_text(encoding="utf-8")
        if not Path(name).exists() or Path(name).read_text(encoding="utf-8") != resolved:
            stale.append(name)
            if not options.check:
                Path(name).write_text(resolved, encoding="utf-8")
    if options.check and stale:
        sys.exit(f"stale: {', '.join(stale)}; run `make lock`")


if __name__ == "__main__":
    main()
