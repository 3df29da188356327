"""Commands that work on a deployment work on the local run, too."""

import click

from app.errors import ConfigurationError
from app.local.run import BROUGHT, deployed, read_run, shield
from app.settings import Settings


def joined(settings: Settings) -> Settings:
    """Returns the settings of the local run, unless `settings` name a deployment.

    With the local run, the AWS SDKs of this process use its embedded AWS from here on, and no real account. Raises
    ConfigurationError if there is neither.
    """
    if any(getattr(settings, name.removeprefix("APP_").lower()) is not None for name in BROUGHT):
        return settings
    try:
        run = read_run(settings.run_dir)
    except ConfigurationError as error:
        raise ConfigurationError(f"{error}, or set APP_SQS_QUEUE_URL and what else --help names") from None
    shield(run.aws())
    click.echo(f"On the local run, {run.endpoint}", err=True)
    return deployed(settings, run)
