package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

type call struct {
	Entries []struct {
		ID          string `json:"Id"`
		MessageBody string
	}
}

// queue starts a stand-in for SQS that responds to each entry with answer. It returns batches that send to the
// stand-in, and a function that returns the calls that the stand-in has received.
func queue(t *testing.T, answer func(id string) string) (*batches, func() []call) {
	var lock sync.Mutex
	var calls []call
	server := httptest.NewTLSServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		var one call
		body, _ := io.ReadAll(request.Body)
		if err := json.Unmarshal(body, &one); err != nil {
			t.Errorf("%v: %s", err, body)
		}
		lock.Lock()
		calls = append(calls, one)
		lock.Unlock()
		time.Sleep(20 * time.Millisecond) // like the latency of SQS, so that other messages wait meanwhile
		var entries []string
		for _, entry := range one.Entries {
			entries = append(entries, answer(entry.ID))
		}
		_, _ = fmt.Fprintf(writer, `{"Successful":[%s],"Failed":[]}`, strings.Join(entries, ","))
	}))
	t.Cleanup(server.Close)
	to := endpoint{server.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true}}
	return newBatches(to, signer{host: to.address}, "https://sqs/q"), func() []call {
		lock.Lock()
		defer lock.Unlock()
		return calls
	}
}

func acknowledged(id string) string { return fmt.Sprintf(`{"Id":"%s","MessageId":"m"}`, id) }

func sample(number int) ([]byte, event) {
	body := fmt.Appendf(nil, "{\n\t\"id\": \"ev_%d\", \"é\": \"\\\"\\u0041\\\\\"}", number)
	return body, event{fmt.Appendf(nil, "ev_%d", number), []byte("type"), []byte("v2")}
}

// Each message arrives once and unchanged, and messages that wait at the same time share a call.
func TestBatches(t *testing.T) {
	batches, calls := queue(t, acknowledged)
	var done sync.WaitGroup
	for number := range 200 {
		done.Add(1)
		go func() {
			defer done.Done()
			if !batches.send(sample(number)) {
				t.Errorf("%d was not acknowledged", number)
			}
		}()
	}
	done.Wait()
	seen := map[string]int{}
	for _, call := range calls() {
		for _, entry := range call.Entries {
			seen[entry.MessageBody]++
		}
	}
	for number := range 200 {
		if body, _ := sample(number); seen[string(body)] != 1 {
			t.Errorf("%d is %d times in the queue", number, seen[string(body)])
		}
	}
	if len(calls()) > 40 {
		t.Errorf("%d calls", len(calls()))
	}
}

// An answer acknowledges a message only if it has the id of the message's entry, and a message id.
func TestWrongAnswers(t *testing.T) {
	for name, answer := range map[string]func(id string) string{
		"another id":    func(id string) string { return acknowledged(id + "0") },
		"no message id": func(id string) string { return strings.Replace(acknowledged(id), `"m"`, `""`, 1) },
		"not JSON":      func(string) string { return "}" },
	} {
		batches, _ := queue(t, answer)
		if batches.send(sample(1)) {
			t.Error(name)
		}
	}
}

// The signature equals the signature of the AWS SDK, with and without a session token.
func TestSignature(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, token := range []string{"", "token"} {
		own := signer{host: "sqs.eu-central-1.amazonaws.com", region: "eu-central-1", accessKey: "key", secretKey: "secret", token: token}
		body := []byte(`{"QueueUrl":"q"}`)
		request, _ := http.NewRequest("POST", "https://sqs.eu-central-1.amazonaws.com/", bytes.NewReader(body))
		request.ContentLength = 0 // otherwise the SDK signs it as well
		request.Header.Set("Content-Type", contentType)
		request.Header.Set("X-Amz-Target", target)
		digest := fmt.Sprintf("%x", sha256.Sum256(body))
		credentials := aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret", SessionToken: token}
		if err := v4.NewSigner().SignHTTP(t.Context(), credentials, request, digest, "sqs", "eu-central-1", now); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second signature uses the cached key
			head := string(own.sign(body, now))
			if expected := "Authorization: " + request.Header.Get("Authorization") + "\r\n"; !strings.Contains(head, expected) {
				t.Errorf("%s\nhas not\n%s", head, expected)
			}
		}
	}
}
