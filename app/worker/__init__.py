"""The worker process: receives messages from SQS, bills their invoices, then deletes, retries or dead-letters them."""
