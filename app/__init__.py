"""invoice-webhook: Chargebee invoice webhooks, validated and put on SQS.

    Chargebee ── POST /webhooks/chargebee ──▶ web ──▶ SQS ──▶ (later) worker ──▶ DynamoDB · Chargebee API
                  auth → admission → body → RELEASE (validate, enqueue)

Packages, each importing only from those to its right (import-linter enforces it):

    cli → web | live | local → sqs → telemetry → events → settings → errors
"""

__version__ = "1.1.0"
