package main

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// The same limits as in v09: calls in flight, entries in a call, and the bytes of these entries.
const (
	slots      = 4
	maxEntries = 10
	maxBytes   = 256 * 1024
)

// waiting is one message, whose sender waits until ctx ends.
type waiting struct {
	ctx   context.Context
	entry types.SendMessageBatchRequestEntry
	size  int
	sent  chan error
}

// batches sends the messages that wait at the same time in one SendMessageBatch. A free slot takes the waiting messages
// at once, without a timer. All peers leave out three parts of app/sqs/group_commit.py: full calls need no slot (up to
// sixteen calls), a refused call is split and sent again, and a message is dropped in the last tenth of its time.
func batches(client *sqs.Client, queueURL string) sender {
	queue := make(chan waiting, 10_000)
	go dispatch(client, queueURL, queue)
	return func(ctx context.Context, body string, attributes map[string]types.MessageAttributeValue) error {
		size := len(body)
		for name, value := range attributes {
			size += len(name) + len("String") + len(*value.StringValue)
		}
		entry := types.SendMessageBatchRequestEntry{MessageBody: &body, MessageAttributes: attributes}
		one := waiting{ctx, entry, size, make(chan error, 1)}
		select {
		case queue <- one:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case err := <-one.sent:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// dispatch begins a call when a slot is free and a message waits.
func dispatch(client *sqs.Client, queueURL string, queue <-chan waiting) {
	inFlight := make(chan struct{}, slots)
	var next *waiting
	for call := 0; ; call++ {
		inFlight <- struct{}{}
		var batch []waiting
		batch, next = take(queue, next)
		go func() {
			sendBatch(client, queueURL, call, batch)
			<-inFlight
		}()
	}
}

// take waits for a message, and adds the messages that wait behind it, until a message exceeds the limits of a call.
// take also returns the message that exceeds maxBytes. The next call begins with this message. take drops the messages
// whose senders have stopped waiting.
func take(queue <-chan waiting, next *waiting) ([]waiting, *waiting) {
	batch, size := make([]waiting, 0, maxEntries), 0
	for len(batch) < maxEntries {
		var one waiting
		switch {
		case next != nil:
			one, next = *next, nil
		case len(batch) == 0:
			one = <-queue
		default:
			select {
			case one = <-queue:
			default:
				return batch, nil
			}
		}
		if one.ctx.Err() != nil {
			continue
		}
		if size += one.size; size > maxBytes {
			return batch, &one
		}
		batch = append(batch, one)
	}
	return batch, nil
}

// sendBatch tries until the last sender stops waiting. The ids of the entries are unique across all calls.
func sendBatch(client *sqs.Client, queueURL string, call int, batch []waiting) {
	entries := make([]types.SendMessageBatchRequestEntry, len(batch))
	for i := range batch {
		entries[i] = batch[i].entry
		entries[i].Id = aws.String(strconv.Itoa(call) + "-" + strconv.Itoa(i))
	}
	input := sqs.SendMessageBatchInput{QueueUrl: &queueURL, Entries: entries}
	answer, err := client.SendMessageBatch(batch[len(batch)-1].ctx, &input)
	acknowledged := map[string]bool{}
	if err == nil {
		for _, entry := range answer.Successful {
			acknowledged[aws.ToString(entry.Id)] = aws.ToString(entry.MessageId) != ""
		}
		err = errNotAcknowledged
	}
	for i := range batch {
		if acknowledged[*entries[i].Id] {
			batch[i].sent <- nil
		} else {
			batch[i].sent <- err
		}
	}
}
