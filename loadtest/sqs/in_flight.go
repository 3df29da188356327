package main

// inFlight identifies a message in flight. ID is set only in a batch.
type inFlight struct {
	ID                string `json:"Id"`
	ReceiptHandle     string
	VisibilityTimeout int
}

// carriedOut is the response for an entry of a batch that succeeded.
type carriedOut struct {
	ID string `json:"Id"`
}

// readInFlight reads a call about one message in flight, and finds its queue.
func (s *service) readInFlight(from call) (inFlight, *queue, *refusal) {
	var asked struct {
		naming
		inFlight
	}
	if refused := decode(from, &asked); refused != nil {
		return inFlight{}, nil, refused
	}
	found, refused := s.shelfOf(asked.naming)
	return asked.inFlight, found, refused
}

// readInFlightBatch reads a call about several messages in flight. It refuses the whole call if the entries' ids are
// invalid.
func (s *service) readInFlightBatch(from call) ([]inFlight, *queue, *refusal) {
	var asked struct {
		naming
		Entries []inFlight
	}
	if refused := decode(from, &asked); refused != nil {
		return nil, nil, refused
	}
	found, refused := s.shelfOf(asked.naming)
	if refused != nil {
		return nil, nil, refused
	}
	entries := make([]entry, len(asked.Entries))
	for i, one := range asked.Entries {
		entries[i].ID = one.ID
	}
	return asked.Entries, found, checkBatch(entries)
}
