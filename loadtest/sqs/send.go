package main

import (
	"encoding/hex"
	"net/http"
	"time"
)

// acknowledged is the response to SendMessage or, with an id, to an entry of SendMessageBatch.
type acknowledged struct {
	ID             string `json:"Id,omitempty"`
	MessageID      string `json:"MessageId"`
	BodyMD5        string `json:"MD5OfMessageBody"`
	AttributesMD5  string `json:"MD5OfMessageAttributes,omitempty"`
	SequenceNumber string `json:",omitempty"`
}

type failed struct {
	ID          string `json:"Id"`
	Code        string
	Message     string
	SenderFault bool
}

type entry struct {
	ID string
	message
}

func (s *service) sendMessage(from call) (any, *refusal) {
	name, sent, refused := readMessage(from.data)
	if refused != nil {
		return nil, refused
	}
	found, refused := s.queueOf(name)
	if refused != nil {
		return nil, refused
	}
	return s.store(found, sent, "")
}

// sendMessageBatch refuses the call for errors of the whole batch. For the error of an entry, it responds with 200 and
// a Failed entry.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html
func (s *service) sendMessageBatch(from call) (any, *refusal) {
	name, entries, refused := readBatch(from.data)
	if refused != nil {
		return nil, refused
	}
	found, refused := s.queueOf(name)
	if refused != nil {
		return nil, refused
	}
	if refused := checkBatch(entries); refused != nil {
		return nil, refused
	}
	var answer struct {
		Successful []*acknowledged
		Failed     []failed `json:",omitempty"`
	}
	answer.Successful = make([]*acknowledged, 0, len(entries))
	for i := range entries {
		one := &entries[i]
		if s.faults.happens(func(f *settings) float64 { return f.FailEntry }) {
			answer.Failed = append(answer.Failed, failed{one.ID, "InternalError", "planted", false})
			continue
		}
		stored, refused := s.store(found, &one.message, one.ID)
		if refused != nil {
			answer.Failed = append(answer.Failed, failed{one.ID, refused.code, refused.message, true})
			continue
		}
		answer.Successful = append(answer.Successful, stored)
	}
	return answer, nil
}

func checkBatch(entries []entry) *refusal {
	if len(entries) == 0 {
		return named("EmptyBatchRequest", "There should be at least one SendMessageBatchRequestEntry in the request.")
	}
	if len(entries) > maxEntries {
		return named("TooManyEntriesInBatchRequest", "Maximum number of entries per request are 10.")
	}
	total, seen := 0, make(map[string]bool, len(entries))
	for i := range entries {
		id := entries[i].ID
		if !entryID.MatchString(id) {
			return named("InvalidBatchEntryId", "A batch entry id can only contain alphanumeric characters, hyphens and "+
				"underscores. It can be at most 80 letters long.")
		}
		if seen[id] {
			return named("BatchEntryIdsNotDistinct", "Id "+id+" repeated.")
		}
		seen[id] = true
		total += entries[i].size()
	}
	if total > maxMessageBytes {
		return named("BatchRequestTooLong", "Batch requests cannot be longer than 1048576 bytes.")
	}
	return nil
}

// store checks the message and stores it. It returns the acknowledgement for the entry `id`.
func (s *service) store(found *queue, sent *message, id string) (*acknowledged, *refusal) {
	if refused := sent.check(found.isFIFO(), found.contentBased()); refused != nil {
		return nil, refused
	}
	answer := found.add(sent, s.faults.copies(), time.Now())
	result := &acknowledged{ID: id, MessageID: answer.id, SequenceNumber: answer.sequence}
	result.BodyMD5 = hex.EncodeToString(answer.digests.body[:])
	if len(sent.MessageAttributes) > 0 {
		result.AttributesMD5 = hex.EncodeToString(answer.digests.attributes[:])
	}
	return result, nil
}

// send responds to a SendMessage or SendMessageBatch, unless there is a fault for the whole call.
func (s *service) send(writer http.ResponseWriter, answer action, from call) {
	planted := s.faults.draw(from.done)
	switch {
	case planted.gone:
		panic(http.ErrAbortHandler)
	case planted.throttle:
		(&refusal{http.StatusBadRequest, "RequestThrottled", "RequestThrottled", "planted"}).write(writer)
	case planted.error500:
		(&refusal{http.StatusInternalServerError, "InternalFailure", "InternalFailure", "planted"}).write(writer)
	case planted.reset:
		_, _ = answer(from)
		reset(writer)
	default:
		reply(writer, answer, from)
	}
}
