package main

import (
	"strconv"
	"time"
)

// attributeBytes is the size of the names and types of the four attributes, which count towards a message's size.
const attributeBytes = len("event_id"+"event_type"+"api_version"+"received_at") + 4*len("String")

// waiting is one message. It is reused, unless its sender has timed out, because a batch may then still refer to it.
type waiting struct {
	entry    []byte // the rest of the JSON of a SendMessageBatch entry, after the value of Id
	deadline time.Time
	size     int
	sent     chan bool // whether SQS has acknowledged the message
	timer    *time.Timer
}

func newWaiting() any {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &waiting{sent: make(chan bool, 1), timer: timer}
}

// set makes the entry of a valid event. Its bytes are copied, because fasthttp reuses the body's buffer.
func (w *waiting) set(body []byte, found event, now time.Time) {
	entry := append(w.entry[:0], `","MessageBody":"`...)
	entry = appendEscaped(entry, body)
	entry = append(entry, `","MessageAttributes":{"event_id":`...)
	entry = appendText(entry, found.id)
	entry = append(entry, `,"event_type":`...)
	entry = appendText(entry, found.eventType)
	entry = append(entry, `,"api_version":`...)
	entry = appendText(entry, found.apiVersion)
	entry = append(entry, `,"received_at":{"DataType":"String","StringValue":"`...)
	start := len(entry)
	entry = strconv.AppendInt(entry, now.UnixMilli(), 10)
	w.size = len(body) + attributeBytes + len(found.id) + len(found.eventType) + len(found.apiVersion) + len(entry) - start
	w.entry = append(entry, `"}}}`...)
}

// appendText appends an attribute's value, which is already escaped.
func appendText(entry, value []byte) []byte {
	entry = append(entry, `{"DataType":"String","StringValue":"`...)
	entry = append(entry, value...)
	return append(entry, `"}`...)
}

// appendEscaped appends valid JSON as the content of a JSON string. Valid JSON has no control characters except \t, \n
// and \r.
func appendEscaped(to, text []byte) []byte {
	start := 0
	for at, character := range text {
		var escaped string
		switch character {
		case '"':
			escaped = `\"`
		case '\\':
			escaped = `\\`
		case '\n':
			escaped = `\n`
		case '\r':
			escaped = `\r`
		case '\t':
			escaped = `\t`
		default:
			continue
		}
		to = append(append(to, text[start:at]...), escaped...)
		start = at + 1
	}
	return append(to, text[start:]...)
}
