"""Where measurements are kept: loadtest/results."""

from datetime import UTC, datetime
from pathlib import Path

from loadtest.record.shapes import Environment

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "loadtest" / "results"


def attack(name: str) -> Path:
    """`attacks/<time>-<name>`: one attack, as attack.sh leaves it."""
    return RESULTS / "attacks" / f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}-{name}"


def comparison(environment: Environment, quick: bool = False) -> Path:
    """`<date>-<commit>`; runs that are only a look have a folder of their own."""
    return RESULTS / f"{environment.started[:10]}-{environment.commit}{'-quick' if quick else ''}"


def raw(file: Path, kind: str, name: str, repeat: int) -> Path:
    """Where an attack of the comparison in `file` leaves vegeta's results."""
    return file.parent / "raw" / file.stem / f"{kind}-{name.replace(' ', '_')}-{repeat}"
