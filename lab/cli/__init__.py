"""The command line `python -m lab`: a file for each command, but `setup` and `postgres` are both in database.py."""

from app.cli import run
from lab.cli.serve import lab


def main() -> None:
    """Runs `python -m lab`."""
    run(lab, "python -m lab")
