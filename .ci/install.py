"""Installs a lock's packages into this Python's environment: with uv or, if uv fails, with pip. Shows the progress.

python .ci/install.py LOCK SIZE    SIZE, such as `170 MB`, is only shown

pip installs uv from locks/local.lock. uv does not read pip's configuration, so this script passes it on.
"""

import ast
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

UV_LOCK = Path(__file__).parents[1] / "locks" / "local.lock"
# Like `python -m pip`, but Ctrl-C ends it without a traceback.
RUN_PIP = "import runpy, signal; signal.signal(signal.SIGINT, signal.SIG_DFL); runpy.run_module('pip', {}, '__main__')"
PIP = [sys.executable, "-c", RUN_PIP, "--disable-pip-version-check"]
PIP_INSTALL = [*PIP, "install", "--progress-bar", "off", "--require-hashes", "--requirement"]
# Not `uv pip sync`: it would remove the packages that only another lock has, but all locks share one `.venv`.
UV = str(Path(sys.executable).with_name("uv"))
UV_INSTALL = [UV, "pip", "install", "--python", sys.executable, "--require-hashes", "--requirement"]
# Key: an option of pip. Value: the variable that sets this option for uv, and the separator between several values.
# Command-line options would be unsafe, because the address of an index may contain a password, and other users can see
# command lines.
VARIABLES = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "client-cert": ("SSL_CLIENT_CERT", " "),
    "proxy": ("ALL_PROXY", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
}
# If the output is a log and not a terminal, pip's progress is shown only for every 20th package.
EVERY = 1 if sys.stdout.isatty() else 20


def say(text: str) -> None:
    """Shows one line. On a terminal, the next line replaces it."""
    sys.stdout.write(f"\r\033[K  {text}" if sys.stdout.isatty() else f"  {text}\n")
    sys.stdout.flush()


def uv_progress(lines: Iterable[str]) -> Iterator[str]:
    """Yields uv's main steps. Ignores its other steps and the list of packages. Copies all other lines to stderr."""
    for line in lines:
        if re.match(r"(Downloading|Prepared|Installed) ", line):
            yield line.strip()
        elif not re.match(r" [-+~] | *(Using|Resolved|Downloaded|Building|Built|Checked|Uninstalled) ", line):
            sys.stderr.write(line)


def pip_progress(lines: Iterable[str], total: int) -> Iterator[str]:
    """Yields a short form of pip's output. `total`: the number of packages."""
    found = 0
    for line in lines:
        if package := re.match(r"(?:Collecting|Requirement already satisfied:|Ignoring) ([\w.-]+)", line):
            found += 1
            if found % EVERY == 0:
                yield f"{found} of {total}: {package[1]}"
        elif line.startswith("Installing collected packages"):
            yield "all are there; unpacking them …"


def pip_options() -> dict[str, str]:
    """Returns pip's options from the configuration files and the environment. The environment has precedence."""
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, encoding="utf-8", check=False).stdout
    options: dict[str, str] = {}
    for section in ("global", "install", ":env:"):
        found = re.findall(rf"^{section}\.([\w-]+)=(.*)$", listed, re.MULTILINE)
        options |= {name: ast.literal_eval(value) for name, value in found}
    return options


def uv_environment(options: dict[str, str]) -> dict[str, str]:
    """Returns the environment for uv, with pip's `options`. Variables UV_… that are already set have precedence."""
    # uv chooses among the packages of all indexes, as pip does. This is safe, because the lock has hashes.
    environment = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    for option, (variable, separator) in VARIABLES.items():
        # Leave out folders that do not exist: pip ignores them, but uv fails.
        values = [word for word in options.get(option, "").split() if option != "find-links" or _exists(word)]
        if values:
            environment[variable] = separator.join(values)
    ours = {name: value for name, value in os.environ.items() if name.startswith("UV_")}
    return os.environ | environment | ours


def _exists(place: str) -> bool:
    return "://" in place or Path(place).exists()


def run(
    command: list[str],
    progress: Callable[[Iterable[str]], Iterator[str]],
    stderr: int | None = None,
    env: dict[str, str] | None = None,
) -> int:
    """Runs the command to its end, shows its progress, and returns its exit code."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, encoding="utf-8", env=env) as process:
        assert process.stdout is not None
        for text in progress(process.stdout):
            say(text)
    return process.returncode


def text_of(lock: Path) -> str:
    """Returns the lock's text, preceded by the text of the locks that it includes."""
    text = lock.read_text(encoding="utf-8")
    return "".join([*(text_of(lock.parent / name) for name in re.findall(r"^-r (.+)$", text, re.MULTILINE)), text])


def install_uv() -> bool:
    """Installs uv with pip, in the version of UV_LOCK. Returns False if pip fails. Exits if there is no network."""
    package = re.search(r"^uv==.*\n(?: .*\n)*", UV_LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    assert package is not None
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "uv.lock"
        lock.write_text(package[0], encoding="utf-8")
        # pip must use a wheel of uv, because building uv would take minutes and need a Rust compiler.
        command = [*PIP_INSTALL, str(lock), "--only-binary", ":all:", "--quiet"]
        install = subprocess.run(command, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    if install.returncode == 0:
        return True
    if re.search("NewConnectionError|NameResolutionError|ConnectTimeoutError", install.stderr):
        sys.exit("  no network: pip cannot reach its index; run the same command again when it can")
    sys.stderr.write(install.stderr)
    return False


def install_with_uv(lock: str) -> bool:
    """Installs uv, and then the lock with uv. Returns False if one of the two installations fails."""
    if not install_uv():
        return False
    options = pip_options()
    offline = options.get("no-index", "").lower() in {"1", "true", "yes", "on"}  # uv has no variable for `no-index`
    command = [*UV_INSTALL, lock, *(["--no-index"] if offline else [])]
    return run(command, uv_progress, stderr=subprocess.STDOUT, env=uv_environment(options)) == 0


def main(lock: str, size: str) -> int:
    total = len(re.findall(r"^\S+==", text_of(Path(lock)), re.MULTILINE))
    where = os.path.relpath(sys.prefix)
    sys.stdout.write(f"installing {total} packages ({lock}, some {size}) into {where}, once …\n")
    sys.stdout.flush()  # so that this line is before the output of the installers
    failed = 0
    if not install_with_uv(lock):
        say("uv failed, see its error above; pip takes its place, which may take a minute or two …")
        failed = run([*PIP_INSTALL, lock], lambda lines: pip_progress(lines, total))
    say("pip failed, see its error above" if failed else "done")
    sys.stdout.write("\n" if sys.stdout.isatty() else "")
    return failed


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.stderr.write("\n  interrupted: run the same command again to go on\n")
        sys.exit(128 + signal.SIGINT)
