"""`python -m app setup`: creates the DynamoDB table of the billing work."""

import click

from app.billing.schema import set_up
from app.settings import load_worker_settings
from app.sqs.sdk import require_sdk


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what the command would do, and change nothing.")
def setup(dry_run: bool) -> None:
    """Create the DynamoDB table of the billing work, and enable its TTL. If the table exists, only enable the TTL.

    APP_BILLING_TABLE names the table. The AWS SDK's variables set the endpoint (AWS_ENDPOINT_URL for an emulator), the
    region and the credentials. In production, deploy/aws/billing.yaml creates the table.
    """
    table = load_worker_settings().require_billing_table()
    require_sdk()
    for line in set_up(table, dry_run=dry_run):
        click.echo(line)
