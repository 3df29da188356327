package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// handlePrefix is the beginning of each receipt handle, so that a message id is never a valid receipt handle.
const handlePrefix = "handle-"

// shelf keeps whole messages, for tests that receive them. The queue's mutex guards the shelf.
type shelf struct {
	messages []*shelved // in the order of arrival
	byHandle map[string]*shelved
	arrived  chan struct{} // closed when a message arrives, for long polling
}

type shelved struct {
	message  *message
	receipt  receipt
	sentAt   time.Time
	visible  time.Time // from this time on, the message can be received
	received int
	handle   string // the receipt handle of the last time it was received
	gone     bool
}

func newShelf() *shelf {
	return &shelf{byHandle: map[string]*shelved{}, arrived: make(chan struct{})}
}

func (s *shelf) put(sent *message, answer receipt, now time.Time) {
	visible := now.Add(time.Duration(sent.DelaySeconds) * time.Second)
	s.add(&shelved{message: sent, receipt: answer, sentAt: now, visible: visible})
}

func (s *shelf) add(held *shelved) {
	s.messages = append(s.messages, held)
	close(s.arrived)
	s.arrived = make(chan struct{})
}

// take hides up to `most` messages for `hidden`, and returns them in `taken`. It removes messages that were received
// `limit` times from the shelf, and returns them in `dead`.
func (s *shelf) take(most int, hidden time.Duration, limit int, fifo bool, now time.Time) (taken, dead []*shelved) {
	s.compact()
	busy := map[string]bool{} // groups with a message in flight, in which later messages must wait
	for _, held := range s.messages {
		group := ""
		if fifo {
			group = *held.message.MessageGroupID
		}
		if busy[group] && fifo {
			continue
		}
		if now.Before(held.visible) {
			busy[group] = true
			continue
		}
		if limit > 0 && held.received >= limit {
			s.drop(held)
			dead = append(dead, held)
			continue
		}
		if len(taken) == most {
			break
		}
		s.hand(held, now.Add(hidden))
		taken = append(taken, held)
	}
	return taken, dead
}

func (s *shelf) hand(held *shelved, until time.Time) {
	delete(s.byHandle, held.handle)
	held.received++
	held.visible, held.handle = until, handlePrefix+messageID()
	s.byHandle[held.handle] = held
}

// remove deletes the message with this receipt handle. An old handle has no effect, as with SQS. SQS refuses a text
// that is not a handle and, on a FIFO queue, the handle of a message that is visible again:
// https://github.com/localstack/localstack/pull/12442
func (s *shelf) remove(handle string, fifo bool, now time.Time) *refusal {
	held, found := s.byHandle[handle]
	switch {
	case !strings.HasPrefix(handle, handlePrefix):
		return &refusal{400, "ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", "The input receipt handle is invalid."}
	case found && fifo && !now.Before(held.visible):
		return invalidParameter("Value " + handle + " for parameter ReceiptHandle is invalid. Reason: " +
			"The receipt handle has expired.")
	case found:
		s.drop(held)
	}
	return nil
}

func (s *shelf) drop(held *shelved) {
	delete(s.byHandle, held.handle)
	held.gone = true
}

func (s *shelf) compact() {
	kept := s.messages[:0]
	for _, held := range s.messages {
		if !held.gone {
			kept = append(kept, held)
		}
	}
	clear(s.messages[len(kept):])
	s.messages = kept
}

func (s *shelf) numbers(now time.Time) (visible, inFlight, delayed int) {
	for _, held := range s.messages {
		switch {
		case held.gone:
		case !now.Before(held.visible):
			visible++
		case held.received == 0:
			delayed++
		default:
			inFlight++
		}
	}
	return visible, inFlight, delayed
}

// redrive parses a queue's RedrivePolicy. SDKs send the count as a number or as a string.
func redrive(policy string) (target string, limit int) {
	var parsed struct {
		Target string `json:"deadLetterTargetArn"`
		Limit  any    `json:"maxReceiveCount"`
	}
	if json.Unmarshal([]byte(policy), &parsed) != nil {
		return "", 0
	}
	switch value := parsed.Limit.(type) {
	case float64:
		limit = int(value)
	case string:
		limit, _ = strconv.Atoi(value)
	}
	return parsed.Target, limit
}
