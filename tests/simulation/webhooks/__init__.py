"""The webhook's path in virtual time: the second door, group commit and the lean client, against a model of SQS."""
