package main

import (
	"time"
)

const maxVisibility = 12 * 60 * 60 // seconds

func (s *service) changeMessageVisibility(from call) (any, *refusal) {
	asked, found, refused := s.readInFlight(from)
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
	type failed struct {
		ID          string `json:"Id"`
		Code        string
		SenderFault bool
	}
	entries, found, refused := s.readInFlightBatch(from)
	if refused != nil {
		return nil, refused
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	changed, not := make([]carriedOut, 0, len(entries)), []failed{}
	for _, one := range entries {
		if code := found.shelf.change(one.ReceiptHandle, one.VisibilityTimeout, time.Now()); code != "" {
			not = append(not, failed{one.ID, code, true})
		} else {
			changed = append(changed, carriedOut{one.ID})
		}
	}
	return map[string]any{"Successful": changed, "Failed": not}, nil
}

// change hides the message with this receipt handle for `seconds` from now. It returns "" or SQS's error code.
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
