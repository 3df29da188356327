"""`python -m app setup`: the table of the billing work."""

import click

from app.billing.schema import set_up
from app.errors import ConfigurationError
from app.settings import load_settings
from app.sqs.sdk import require_sdk


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would be done.")
def setup(dry_run: bool) -> None:
    """Create the DynamoDB table of the billing work, with its TTL; what exists already stays as it is.

    The table is that of APP_BILLING_TABLE; endpoint, region and credentials are those of the AWS SDK's variables
    (AWS_ENDPOINT_URL for an emulator). In production it is made by infrastructure: deploy/aws/billing.yaml.
    """
    settings = load_settings()
    if settings.billing_table is None:
        raise ConfigurationError("APP_BILLING_TABLE is not set: allowed is the name of a DynamoDB table")
    require_sdk()
    for line in set_up(settings.billing_table, dry_run=dry_run):
        click.echo(line)
