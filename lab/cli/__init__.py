"""`python -m lab`: one file per command."""

from app.cli import run
from lab.cli.serve import lab


def main() -> None:
    """Runs `python -m lab`."""
    run(lab, "python -m lab")
