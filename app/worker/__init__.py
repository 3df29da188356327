"""The worker process: receives messages from SQS, does the billing work, then deletes, retries or dead-letters them."""
