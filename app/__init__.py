"""invoice-webhook: takes Chargebee's invoice webhooks, validates them, puts them on SQS, and bills the invoices.

    Chargebee ── POST /webhooks/chargebee ──▶ web ──▶ SQS ──▶ worker ──▶ DynamoDB · Chargebee API
                  auth → admission → body → RELEASE (validate, enqueue)

RELEASE is the webhook's handler: the module of `app.web.releases` that APP_RELEASE selects, for example v01 or v10.

Each package or module imports only packages and modules to its right. `|` separates packages and modules that do not
import each other. import-linter enforces this order:

    cli → web | worker → from_settings → billing → sqs → lean_events | telemetry → events → validation_errors
    → unreadable → settings → clock | errors | open_files | server | starting | terminal
"""

__version__ = "1.5.0"
