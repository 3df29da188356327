package main

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
)

// audited has the messages that a queue has stored: how often each body and each set of attributes, by hexadecimal MD5.
type audited struct {
	Count      int            `json:"count"`
	Bodies     map[string]int `json:"bodies"`
	Attributes map[string]int `json:"attributes"`
}

// ofQueue responds to a call of a test, which has no signature. The response is `answer` of the queue in the URL.
func (s *service) ofQueue(writer http.ResponseWriter, request *http.Request, answer func(*queue) any) {
	found, refused := s.queues.find(request.URL.Query().Get("queue"))
	if refused != nil {
		refused.write(writer)
		return
	}
	body, _ := json.Marshal(answer(found))
	writeJSON(writer, http.StatusOK, body)
}

// purge deletes all messages. It keeps the deduplication ids of the last five minutes.
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
	// Stored digests never change, so a copy of the list of chunks can be read while more messages arrive.
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
