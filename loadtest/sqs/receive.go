package main

import (
	"strconv"
	"time"
)

const (
	maxReceived = 10
	maxWait     = 20 // seconds
)

// receiving has the parameters of ReceiveMessage. nil means the default of the queue or, without one, of SQS.
type receiving struct {
	naming
	MaxNumberOfMessages         *int
	VisibilityTimeout           *int
	WaitTimeSeconds             *int
	MessageAttributeNames       []string
	AttributeNames              []string
	MessageSystemAttributeNames []string
}

// messagesFound has no member in its JSON if there are no messages, as with SQS.
type messagesFound struct {
	Messages []received `json:",omitempty"`
}

func (s *service) receiveMessage(from call) (any, *refusal) {
	var asked receiving
	if refused := decode(from, &asked); refused != nil {
		return nil, refused
	}
	found, refused := s.shelfOf(asked.naming)
	if refused != nil {
		return nil, refused
	}
	most := or(asked.MaxNumberOfMessages, "", 1)
	if most < 1 || most > maxReceived {
		return nil, invalidParameter("Value " + strconv.Itoa(most) + " for parameter MaxNumberOfMessages is invalid. " +
			"Reason: Must be between 1 and 10, if provided.")
	}
	hidden := time.Duration(or(asked.VisibilityTimeout, found.attributes["VisibilityTimeout"], 30)) * time.Second
	wait := or(asked.WaitTimeSeconds, found.attributes["ReceiveMessageWaitTimeSeconds"], 0)
	if hidden < 0 || hidden > maxVisibility*time.Second {
		return nil, invalidParameter("Value " + strconv.Itoa(int(hidden/time.Second)) + " for parameter " +
			"VisibilityTimeout is invalid. Reason: Must be between 0 and 43200, if provided.")
	}
	if wait < 0 || wait > maxWait {
		return nil, invalidParameter("Value " + strconv.Itoa(wait) + " for parameter WaitTimeSeconds is invalid. " +
			"Reason: Must be >= 0 and <= 20, if provided.")
	}
	over := time.After(time.Duration(wait) * time.Second)
	for {
		messages, arrived := s.take(found, most, hidden, &asked)
		if len(messages) > 0 || wait == 0 {
			return messagesFound{messages}, nil
		}
		select {
		case <-arrived:
		case <-time.After(time.Second / 10): // a message may have become visible again
		case <-over:
			wait = 0
		case <-from.done:
			wait = 0
		}
	}
}

// shelfOf returns a queue whose messages can be received, or a refusal.
func (s *service) shelfOf(name naming) (*queue, *refusal) {
	found, refused := s.queueOf(name)
	if refused == nil && found.shelf == nil {
		return nil, unsupported("No bodies are kept: start the stand-in with -bodies")
	}
	return found, refused
}

// take receives up to `most` messages. It moves messages that were received too often to the dead-letter queue.
func (s *service) take(found *queue, most int, hidden time.Duration, asked *receiving) ([]received, <-chan struct{}) {
	now := time.Now()
	target, limit := redrive(found.attributes["RedrivePolicy"])
	deadLetters, refused := s.queues.find(target)
	if refused != nil || deadLetters.isFIFO() != found.isFIFO() {
		limit = 0 // SQS would have refused this policy
	}
	found.mutex.Lock()
	taken, dead := found.shelf.take(most, hidden, limit, found.isFIFO(), now)
	messages, arrived := make([]received, 0, len(taken)), found.shelf.arrived
	for _, held := range taken {
		messages = append(messages, asked.show(held))
	}
	found.mutex.Unlock()
	for _, held := range dead {
		deadLetters.mutex.Lock()
		deadLetters.keep(held.receipt.digests)
		sentAt := held.sentAt
		if deadLetters.isFIFO() { // SQS sets a new sent time only on a FIFO queue
			sentAt = now
		}
		deadLetters.shelf.add(&shelved{message: held.message, receipt: held.receipt, sentAt: sentAt, visible: now})
		deadLetters.mutex.Unlock()
	}
	return messages, arrived
}

// or returns the given number or, if it is nil, the number of the queue's attribute or, without one, SQS's default.
func or(given *int, set string, usual int) int {
	if given != nil {
		return *given
	}
	if number, err := strconv.Atoi(set); err == nil {
		return number
	}
	return usual
}
