package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	target = "AmazonSQS."
	// More than a batch of 1 MiB in which JSON escapes each byte as six bytes.
	maxRequestBytes = 8 << 20
)

// service responds to SQS's calls, and to calls of tests under /_stand-in/.
type service struct {
	verifier *verifier
	queues   *queues
	faults   *faults
	scheme   string
	buffers  sync.Pool
	actions  map[string]action
}

// action handles one of SQS's calls, and returns the response.
type action func(from call) (any, *refusal)

// call is a request with a valid signature. url: the beginning of the queues' URLs. done: closed when the client has
// disconnected.
type call struct {
	data   []byte
	url    string
	region string
	done   <-chan struct{}
}

func newService(verifier *verifier, queues *queues, scheme string) *service {
	made := &service{verifier: verifier, queues: queues, faults: newFaults(), scheme: scheme}
	made.buffers.New = func() any { return new(bytes.Buffer) }
	made.actions = map[string]action{
		"SendMessage":        made.sendMessage,
		"SendMessageBatch":   made.sendMessageBatch,
		"GetQueueUrl":        made.getQueueURL,
		"CreateQueue":        made.createQueue,
		"DeleteQueue":        made.deleteQueue,
		"GetQueueAttributes": made.getQueueAttributes,
		"ReceiveMessage":     made.receiveMessage,
		"DeleteMessage":      made.deleteMessage,
		"DeleteMessageBatch": made.deleteMessageBatch,

		"ChangeMessageVisibility":      made.changeMessageVisibility,
		"ChangeMessageVisibilityBatch": made.changeMessageVisibilityBatch,
	}
	return made
}

// ServeHTTP accepts SQS's calls on any path. It does not use http.ServeMux, which would redirect some paths and so
// break their signatures.
func (s *service) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	switch request.Method + " " + request.URL.Path {
	case "GET /_stand-in/messages":
		s.ofQueue(writer, request, func(found *queue) any { return found.audit() })
	case "DELETE /_stand-in/messages":
		s.ofQueue(writer, request, func(found *queue) any { found.purge(); return found.audit() })
	case "GET /_stand-in/attributes":
		s.ofQueue(writer, request, func(found *queue) any { return found.describe(region) })
	case "GET /_stand-in/faults":
		s.showFaults(writer, request)
	case "PUT /_stand-in/faults":
		s.setFaults(writer, request)
	default:
		s.receiveCall(writer, request)
	}
}

func (s *service) receiveCall(writer http.ResponseWriter, request *http.Request) {
	buffer := s.buffers.Get().(*bytes.Buffer)
	buffer.Reset()
	defer s.buffers.Put(buffer)
	if _, err := io.Copy(buffer, http.MaxBytesReader(writer, request.Body, maxRequestBytes)); err != nil {
		named("BatchRequestTooLong", "The request is too long.").write(writer)
		return
	}
	data := buffer.Bytes()
	if refused := s.verifier.verify(request, data, time.Now()); refused != nil {
		refused.write(writer)
		return
	}
	action, known := strings.CutPrefix(request.Header.Get("X-Amz-Target"), target)
	answer := s.actions[action]
	if request.Method != http.MethodPost || !known || answer == nil {
		unsupported("This stand-in does not know " + action).write(writer)
		return
	}
	if !utf8.Valid(data) {
		invalidParameter("The request is not UTF-8").write(writer)
		return
	}
	parsed, _ := parseAuthorization(request.Header.Get("Authorization"))
	from := call{data, s.scheme + "://" + request.Host, parsed.scope[2], request.Context().Done()}
	if strings.HasPrefix(action, "SendMessage") {
		s.send(writer, answer, from)
		return
	}
	reply(writer, answer, from)
}

// reply writes the response or the refusal.
func reply(writer http.ResponseWriter, answer action, from call) {
	result, refused := answer(from)
	if refused != nil {
		refused.write(writer)
		return
	}
	body, err := json.Marshal(result)
	if err != nil {
		panic(err) // impossible, because all our responses can be marshalled
	}
	writeJSON(writer, http.StatusOK, body)
}

// decode parses the call's JSON into `shape`.
func decode(from call, shape any) *refusal {
	if err := json.Unmarshal(from.data, shape); err != nil {
		return serialization(err)
	}
	return nil
}
