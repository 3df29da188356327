"""The webhook's path in virtual time: server, handler, group commit and lean client, with a model of SQS."""
