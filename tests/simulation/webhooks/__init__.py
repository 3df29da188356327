"""The webhook's path in virtual time: protocol, second door, group commit and lean client, against a model of SQS."""
