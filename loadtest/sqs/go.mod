module invoice-webhook/loadtest/sqs

go 1.24
