package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// BenchmarkSendMessage measures a call without net/http and TLS: go test -bench . -cpu 1
func BenchmarkSendMessage(b *testing.B) {
	benchmark(b, "SendMessage", map[string]any{"QueueUrl": "q", "MessageBody": webhook(b)})
}

// BenchmarkSendMessageBatch measures a call with ten entries.
func BenchmarkSendMessageBatch(b *testing.B) {
	var entries []map[string]string
	for i := range maxEntries {
		entries = append(entries, map[string]string{"Id": fmt.Sprint(i), "MessageBody": webhook(b)})
	}
	benchmark(b, "SendMessageBatch", map[string]any{"QueueUrl": "q", "Entries": entries})
}

func webhook(b *testing.B) string {
	body, err := os.ReadFile("../events/default.json")
	if err != nil {
		b.Fatal(err)
	}
	return string(body)
}

func benchmark(b *testing.B, action string, asked map[string]any) {
	verifier := newVerifier("local", "local")
	service := newService(verifier, newQueues(false), "http")
	if refused := service.queues.create("q", nil); refused != nil {
		b.Fatal(refused)
	}
	data, _ := json.Marshal(asked)
	stamp := time.Now().UTC().Format(amzTime)
	request := httptest.NewRequest(http.MethodPost, "/", nil)
	request.Header.Set("X-Amz-Date", stamp)
	request.Header.Set("X-Amz-Target", target+action)
	signed := authorization{[5]string{"local", stamp[:8], "us-east-1", "sqs", terminator}, mustSign, ""}
	request.Header.Set("Authorization", fmt.Sprintf("%s Credential=%s, SignedHeaders=%s, Signature=%s", algorithm,
		strings.Join(signed.scope[:], "/"), strings.Join(mustSign, ";"), verifier.sign(request, data, stamp, signed)))
	b.ReportAllocs()
	for b.Loop() {
		request.Body = httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(data))).Body
		writer := httptest.NewRecorder()
		service.ServeHTTP(writer, request)
		if writer.Code != http.StatusOK {
			b.Fatal(writer.Body)
		}
	}
}
