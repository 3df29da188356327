package main

import "time"

func (s *service) deleteMessage(from call) (any, *refusal) {
	asked, found, refused := s.readInFlight(from)
	if refused != nil {
		return nil, refused
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	if refused := found.shelf.remove(asked.ReceiptHandle, found.isFIFO(), time.Now()); refused != nil {
		return nil, refused
	}
	return struct{}{}, nil
}

func (s *service) deleteMessageBatch(from call) (any, *refusal) {
	entries, found, refused := s.readInFlightBatch(from)
	if refused != nil {
		return nil, refused
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	deleted, not := make([]carriedOut, 0, len(entries)), []failed{}
	for _, one := range entries {
		if refused := found.shelf.remove(one.ReceiptHandle, found.isFIFO(), time.Now()); refused != nil {
			not = append(not, failed{one.ID, "ReceiptHandleIsInvalid", refused.message, true})
		} else {
			deleted = append(deleted, carriedOut{one.ID})
		}
	}
	return map[string]any{"Successful": deleted, "Failed": not}, nil
}
