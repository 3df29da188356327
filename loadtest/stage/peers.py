"""Builds the programs of `loadtest.peers` (the same work in other languages), and describes them as subjects."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from loadtest.record import meta
from loadtest.record.folders import ROOT
from loadtest.stage import cargo, tools
from loadtest.stage.subject import AttackSubject

PEERS = ROOT / "loadtest" / "peers"
GO, RUST, NODE = PEERS / "go", PEERS / "rust", PEERS / "node"
FLOOR = "asgi_noop"


class _Language(NamedTuple):
    """Peers in one language.

    `tool` returns the path of the build tool, or None if it is missing. `build` and `version` get this path. `version`
    returns the command that prints the toolchain's version. `peers` has the command of each peer, by name.
    """

    name: str
    tool: Callable[[], str | None]
    version: Callable[[str], list[str]]
    build: Callable[[str], None]
    peers: dict[str, list[str]]


def floor() -> AttackSubject:
    """Returns the floor: uvicorn alone, which only reads the body and responds."""
    return AttackSubject(FLOOR, [sys.executable, "-m", "loadtest.peers.asgi_noop"], enqueues=False)


def do_nothing(**flags: str) -> AttackSubject:
    """Returns a FastAPI service whose `def` handler does nothing. `flags`: environment variables of the service."""
    return AttackSubject("do_nothing", [sys.executable, "-m", "loadtest.peers.do_nothing"], flags, enqueues=False)


def peers(wanted: Callable[[str], bool] = lambda name: True) -> list[AttackSubject]:
    """Builds the floor and the peers for whose names `wanted` returns True, and returns them.

    Leaves out peers whose build tools are not installed. Raises CalledProcessError if a peer cannot be built.
    """
    found = [floor()] if wanted(FLOOR) else []
    for language in LANGUAGES:
        names = [name for name in language.peers if wanted(name)]
        tool = language.tool() if names else None
        if tool is not None:
            language.build(tool)
            found += [AttackSubject(name, language.peers[name]) for name in names]
        elif names:
            print(f"{language.name} is not installed: {', '.join(names)} left out", file=sys.stderr)
    return found


def versions(wanted: Callable[[str], bool]) -> dict[str, str]:
    """Returns the version of each installed toolchain that builds a wanted peer, by language."""
    languages = [one for one in LANGUAGES if any(map(wanted, one.peers))]
    return {one.name: meta.version(*one.version(tool)) for one in languages if (tool := one.tool()) is not None}


def _build_go(go: str) -> None:
    for binary, package in {"peer": ".", "lean": "./lean"}.items():
        subprocess.run([go, "build", "-o", f"bin/{binary}", package], cwd=GO, check=True)


def _build_node(npm: str) -> None:
    """Installs the packages of package-lock.json, unless they are already installed."""
    installed = NODE / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < (NODE / "package-lock.json").stat().st_mtime:
        subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=NODE, check=True)


def _npm() -> str | None:
    return shutil.which("npm") if shutil.which("node") else None


_GO, _LEAN = str(GO / "bin" / "peer"), str(GO / "bin" / "lean")
_RUST = str(cargo.binary(RUST))
_NODE = ["node", str(NODE / "server.js")]
LANGUAGES = (
    _Language(
        "Go",
        tools.go,
        lambda go: [go, "version"],
        _build_go,
        {"go": [_GO], "go_group_commit": [_GO, "-group-commit"], "go_lean": [_LEAN]},
    ),
    _Language(
        "Rust",
        lambda: shutil.which("cargo"),
        lambda cargo: [cargo, "--version"],
        partial(cargo.build, RUST),
        {"rust": [_RUST], "rust_group_commit": [_RUST, "--group-commit"]},
    ),
    _Language(
        "Node",
        _npm,
        lambda npm: ["node", "--version"],
        _build_node,
        {"node": _NODE, "node_group_commit": [*_NODE, "--group-commit"]},
    ),
)
NAMES = (FLOOR, *(name for language in LANGUAGES for name in language.peers))
