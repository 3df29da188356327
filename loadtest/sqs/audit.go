package main

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
)

// audited is what a queue has stored, and how often: MD5s in hexadecimal, of bodies and of their attributes.
type audited struct {
	Count      int            `json:"count"`
	Bodies     map[string]int `json:"bodies"`
	Attributes map[string]int `json:"attributes"`
}

// ofQueue answers the test's own call, without a signature, with what `answer` makes of the queue that it names.
func (s *service) ofQueue(writer http.ResponseWriter, request *http.Request, answer func(*queue) any) {
	found, refused := s.queues.find(request.URL.Query().Get("queue"))
	if refused != nil {
		refused.write(writer)
		return
	}
	body, _ := json.Marshal(answer(found))
	writeJSON(writer, http.StatusOK, body)
}

// purge forgets all messages, but not the deduplication ids of the window.
func (q *queue) purge() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.digests = nil
	if q.shelf != nil {
		q.shelf.messages = nil
		clear(q.shelf.byHandle)
	}
}

func (q *queue) audit() audited {
	q.mutex.Lock()
	// What is stored never changes: copies of the chunks' bounds can be read while more arrives.
	count, chunks := q.count(), slices.Clone(q.digests)
	q.mutex.Unlock()
	result := audited{count, make(map[string]int, count), make(map[string]int, count)}
	for _, chunk := range chunks {
		for i := range chunk {
			result.Bodies[hex.EncodeToString(chunk[i].body[:])]++
			result.Attributes[hex.EncodeToString(chunk[i].attributes[:])]++
		}
	}
	return result
}
