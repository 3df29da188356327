"""Process 2, SQS → billing: receives and processes messages, then deletes, retries or dead-letters them."""
