"""Process 2, SQS → billing: receives, processes, then deletes, delays or moves to the dead-letter queue."""
