"""The folders of loadtest/results."""

from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

from loadtest.record.comparison import Environment

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "loadtest" / "results"
# Documents ignore results in folders whose names end like this: trial runs, uncommitted code, and an unknown commit.
UNPUBLISHED = ("-quick", "-dirty", "-unknown")


def attack(name: str) -> Path:
    """Returns the folder `attacks/<time>-<name>` for one run of attack.sh."""
    return RESULTS / "attacks" / f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}-{name}"


def comparison(environment: Environment, quick: bool = False) -> Path:
    """Returns the folder `<date>-<commit>`, or for a trial run (`quick`) `<date>-<commit>-quick`."""
    return RESULTS / f"{environment.started[:10]}-{environment.commit}{'-quick' if quick else ''}"


def raw(file: Path, kind: str, name: str, repeat: int) -> Path:
    """Returns the folder of vegeta's results for one attack of the comparison in `file`."""
    return file.parent / "raw" / file.stem / f"{kind}-{name.replace(' ', '_')}-{repeat}"


def write(file: Path, result: BaseModel) -> None:
    """Writes `result` to `file` as JSON. Creates the folder if it does not exist."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(result.model_dump_json(indent=2) + "\n", encoding="utf-8")
