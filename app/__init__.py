"""invoice-webhook: Chargebee invoice webhooks, validated and put on SQS.

    Chargebee ── POST /webhooks/chargebee ──▶ web ──▶ SQS ──▶ worker ──▶ DynamoDB · Chargebee API
                  auth → admission → body → RELEASE (validate, enqueue)

Packages, each importing only from those to its right (import-linter enforces it):

    cli → web | worker → composition → billing → sqs → telemetry → events → validation_errors → settings → errors
"""

__version__ = "1.3.2"
