package main

// event has the fields of a Chargebee event that go into attributes, as they are in the JSON, escapes included.
type event struct{ id, eventType, apiVersion []byte }

// The bits of the required fields that have been read.
const (
	eventFields   = 1<<8 - 1
	invoiceFields = 1<<10 - 1
	itemFields    = 1<<6 - 1
)

// parse returns false if body is not an event with an invoice, by the rules of the other peers in Go.
func parse(body []byte) (event, bool) {
	var found event
	good := valid(body, func(s *scanner) { found.read(s) })
	return found, good
}

func (e *event) read(s *scanner) {
	seen := 0
	s.object(func(key []byte) {
		switch string(key) {
		case "id":
			e.id = s.text()
			s.bad = s.bad || !isID(e.id)
			seen |= 1 << 0
		case "occurred_at":
			s.integer()
			seen |= 1 << 1
		case "source":
			s.text()
			seen |= 1 << 2
		case "object":
			s.bad = string(s.text()) != "event" || s.bad
			seen |= 1 << 3
		case "api_version":
			e.apiVersion = s.text()
			seen |= 1 << 4
		case "event_type":
			e.eventType = s.text()
			seen |= 1 << 5
		case "webhook_status":
			s.text()
			seen |= 1 << 6
		case "content":
			content(s)
			seen |= 1 << 7
		default:
			s.skip()
		}
	})
	s.bad = s.bad || seen != eventFields
}

func isID(id []byte) bool {
	for _, c := range id {
		if !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '-') {
			return false
		}
	}
	return len(id) >= 1 && len(id) <= 40
}

func content(s *scanner) {
	found := false
	s.object(func(key []byte) {
		if string(key) == "invoice" {
			invoice(s)
			found = true
		} else {
			s.skip()
		}
	})
	s.bad = s.bad || !found
}
