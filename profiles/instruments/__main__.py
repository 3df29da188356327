"""`python -m profiles.instruments`: serves like `python -m app web`, with the chosen instruments."""

import os

import click

from app.cli import run
from app.cli.web import serve_web
from profiles import instruments
from profiles.instruments.wrapped import create_app


@click.command(help=instruments.__doc__)
def main() -> None:
    serve_web(create_app, ours=os.environ.get(instruments.OUR_SERVER) == "1")


if __name__ == "__main__":
    run(main, "python -m profiles.instruments")
