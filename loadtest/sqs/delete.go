package main

func (s *service) deleteMessage(from call) (any, *refusal) {
	asked, found, refused := s.readInFlight(from)
	if refused != nil {
		return nil, refused
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	found.shelf.remove(asked.ReceiptHandle)
	return struct{}{}, nil
}

func (s *service) deleteMessageBatch(from call) (any, *refusal) {
	entries, found, refused := s.readInFlightBatch(from)
	if refused != nil {
		return nil, refused
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	deleted := make([]carriedOut, 0, len(entries))
	for _, one := range entries {
		found.shelf.remove(one.ReceiptHandle)
		deleted = append(deleted, carriedOut{one.ID})
	}
	return map[string]any{"Successful": deleted}, nil
}
