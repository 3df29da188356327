package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// As v09: calls in flight, entries in a call, and their bytes.
const (
	slots      = 4
	maxEntries = 10
	maxBytes   = 256 * 1024
)

type waiting struct {
	entry types.SendMessageBatchRequestEntry
	size  int
	sent  chan error
}

// batches sends what waits at the same time by one SendMessageBatch: a free slot takes what is there, without a timer.
func batches(client *sqs.Client, queueURL string) sender {
	queue := make(chan waiting, 10_000)
	for range slots {
		go func() {
			var next *waiting
			for {
				batch := take(queue, &next)
				sendBatch(client, queueURL, batch)
			}
		}()
	}
	return func(ctx context.Context, body string, attributes map[string]types.MessageAttributeValue) error {
		size := len(body)
		for name, value := range attributes {
			size += len(name) + len("String") + len(*value.StringValue)
		}
		entry := types.SendMessageBatchRequestEntry{MessageBody: &body, MessageAttributes: attributes}
		one := waiting{entry, size, make(chan error, 1)}
		queue <- one
		select {
		case err := <-one.sent:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take waits for a message, and adds those that wait behind it, as far as they fit; next is the first that did not.
func take(queue chan waiting, next **waiting) []waiting {
	var first waiting
	if *next != nil {
		first, *next = **next, nil
	} else {
		first = <-queue
	}
	batch, size := []waiting{first}, first.size
	for len(batch) < maxEntries {
		select {
		case one := <-queue:
			if size += one.size; size > maxBytes {
				*next = &one
				return batch
			}
			batch = append(batch, one)
		default:
			return batch
		}
	}
	return batch
}

func sendBatch(client *sqs.Client, queueURL string, batch []waiting) {
	entries := make([]types.SendMessageBatchRequestEntry, len(batch))
	for i := range batch {
		entries[i] = batch[i].entry
		id := strconv.Itoa(i)
		entries[i].Id = &id
	}
	ctx, cancel := context.WithTimeout(context.Background(), sqsTimeout)
	defer cancel()
	answer, err := client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &queueURL, Entries: entries})
	acknowledged := map[string]bool{}
	if err == nil {
		for _, entry := range answer.Successful {
			acknowledged[*entry.Id] = entry.MessageId != nil
		}
		err = errors.New("SQS has not acknowledged the entry")
	}
	for i := range batch {
		if acknowledged[strconv.Itoa(i)] {
			batch[i].sent <- nil
		} else {
			batch[i].sent <- err
		}
	}
}
