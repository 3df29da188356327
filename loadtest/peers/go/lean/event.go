package main

import "strings"

// event has the fields of a Chargebee event that go into attributes, as they are in the JSON, escapes included.
type event struct{ id, eventType, apiVersion []byte }

// The bits of the required fields that have been read.
const (
	eventFields   = 1<<8 - 1
	invoiceFields = 1<<10 - 1
	itemFields    = 1<<6 - 1
)

// wanted is the type of the events that are queued. The others are ignored.
const wanted = "pending_invoice_created"

// parse returns false if body is not an event. Only an event of the wanted type needs an invoice.
func parse(body []byte) (event, bool) {
	var found event
	if valid(body, func(s *scanner) { found.read(s, content) }) {
		return found, true
	}
	found = event{}
	good := valid(body, func(s *scanner) { found.read(s, anyObject) })
	return found, good && !found.wanted()
}

func (e *event) wanted() bool { return string(e.eventType) == wanted }

// read reads an event. The function content reads the value of the event's field "content".
func (e *event) read(s *scanner, content func(*scanner)) {
	seen := 0
	s.object(func(key []byte) {
		switch string(key) {
		case "id":
			e.id = s.text()
			s.bad = s.bad || !matches(e.id, 40, "_-")
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
			s.bad = s.bad || !matches(e.apiVersion, 20, "_.-")
			seen |= 1 << 4
		case "event_type":
			e.eventType = s.text()
			s.bad = s.bad || !matches(e.eventType, 100, "_.-")
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

// matches reports whether text has 1 to longest letters, digits and marks, as app/events.py requires.
func matches(text []byte, longest int, marks string) bool {
	for _, c := range text {
		if !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte(marks, c) >= 0) {
			return false
		}
	}
	return len(text) >= 1 && len(text) <= longest
}

func anyObject(s *scanner) { s.object(func([]byte) { s.skip() }) }

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
