package main

func (s *service) deleteMessage(from call) (any, *refusal) {
	var asked struct {
		naming
		ReceiptHandle string
	}
	if refused := decode(from, &asked); refused != nil {
		return nil, refused
	}
	found, refused := s.shelfOf(asked.naming)
	if refused != nil {
		return nil, refused
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	found.shelf.remove(asked.ReceiptHandle)
	return struct{}{}, nil
}

func (s *service) deleteMessageBatch(from call) (any, *refusal) {
	type named struct {
		ID            string `json:"Id"`
		ReceiptHandle string `json:",omitempty"`
	}
	var asked struct {
		naming
		Entries []named
	}
	if refused := decode(from, &asked); refused != nil {
		return nil, refused
	}
	found, refused := s.shelfOf(asked.naming)
	if refused != nil {
		return nil, refused
	}
	entries := make([]entry, len(asked.Entries))
	for i, one := range asked.Entries {
		entries[i].ID = one.ID
	}
	if refused := checkBatch(entries); refused != nil {
		return nil, refused
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	done := make([]named, 0, len(asked.Entries))
	for _, one := range asked.Entries {
		found.shelf.remove(one.ReceiptHandle)
		done = append(done, named{ID: one.ID})
	}
	return map[string]any{"Successful": done}, nil
}
