package main

import (
	"time"
)

const maxVisibility = 12 * 60 * 60 // seconds

func (s *service) changeMessageVisibility(from call) (any, *refusal) {
	var asked struct {
		naming
		ReceiptHandle     string
		VisibilityTimeout int
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
	if code := found.shelf.change(asked.ReceiptHandle, asked.VisibilityTimeout, time.Now()); code != "" {
		return nil, named(code, "The message is not in flight, or cannot be hidden that long.")
	}
	return struct{}{}, nil
}

func (s *service) changeMessageVisibilityBatch(from call) (any, *refusal) {
	type changed struct {
		ID string `json:"Id"`
	}
	type failed struct {
		ID          string `json:"Id"`
		Code        string
		SenderFault bool
	}
	var asked struct {
		naming
		Entries []struct {
			ID                string `json:"Id"`
			ReceiptHandle     string
			VisibilityTimeout int
		}
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
	done, not := make([]changed, 0, len(entries)), []failed{}
	for _, one := range asked.Entries {
		if code := found.shelf.change(one.ReceiptHandle, one.VisibilityTimeout, time.Now()); code != "" {
			not = append(not, failed{one.ID, code, true})
		} else {
			done = append(done, changed{one.ID})
		}
	}
	return map[string]any{"Successful": done, "Failed": not}, nil
}

// change hides the message with that receipt handle for so long from now on, or says why not, as SQS's code.
func (s *shelf) change(handle string, seconds int, now time.Time) string {
	held, found := s.byHandle[handle]
	switch {
	case !found:
		return "ReceiptHandleIsInvalid"
	case !now.Before(held.visible):
		return "MessageNotInflight"
	case seconds < 0 || seconds > maxVisibility:
		return "InvalidParameterValue"
	}
	held.visible = now.Add(time.Duration(seconds) * time.Second)
	return ""
}
