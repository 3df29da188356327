"""`python -m lab`: serve.py, measure.py, and database.py, which has the commands `setup` and `postgres`."""

from app.cli import run
from lab.cli.serve import lab


def main() -> None:
    """Runs `python -m lab`."""
    run(lab, "python -m lab")
