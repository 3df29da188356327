// Does the work of a release in Go: Basic auth, a validated Chargebee event, one SendMessage per webhook, then 200.
// With -group-commit, the webhooks that wait at the same time share a SendMessageBatch.
// Configured by variables of the service: APP_PORT, APP_SQS_QUEUE_URL, APP_BASIC_AUTH_….
package main

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	maxBodyBytes = 245_760
	sqsTimeout   = 10 * time.Second
	attempts     = 3 // the SDK's default
	// The service makes little garbage, so rare collections cost only a few MiB of memory.
	gcPercent = 400
	// As many as in the releases. By default, the SDK keeps only 10 idle connections, and closes the others.
	// https://github.com/aws/aws-sdk-go-v2/blob/v1.47.6/aws/transport/http/client.go#L21
	connections = 64
)

var errNotAcknowledged = errors.New("SQS has not acknowledged the message")

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func text(value string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &value}
}

// sender sends a message, and returns when SQS has acknowledged it.
type sender func(ctx context.Context, body string, attributes map[string]types.MessageAttributeValue) error

// one makes a separate call for each message, as v08 does.
func one(client *sqs.Client, queueURL string) sender {
	return func(ctx context.Context, body string, attributes map[string]types.MessageAttributeValue) error {
		sent, err := client.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl: &queueURL, MessageBody: &body, MessageAttributes: attributes,
		})
		if err == nil && aws.ToString(sent.MessageId) == "" {
			return errNotAcknowledged
		}
		return err
	}
}

// read returns the body and 200, or the status that says why the body cannot be read.
func read(writer http.ResponseWriter, request *http.Request) (body []byte, status int) {
	if request.ContentLength > maxBodyBytes {
		return nil, http.StatusRequestEntityTooLarge
	}
	var err error
	if request.ContentLength >= 0 {
		body = make([]byte, request.ContentLength)
		_, err = io.ReadFull(request.Body, body)
	} else {
		body, err = io.ReadAll(http.MaxBytesReader(writer, request.Body, maxBodyBytes))
	}
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return body, http.StatusOK
	case errors.As(err, &tooLarge):
		return nil, http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, http.StatusRequestTimeout
	default:
		return nil, http.StatusBadRequest
	}
}

func receive(send sender, username, password string) http.HandlerFunc {
	return func(writer http.ResponseWriter, request *http.Request) {
		user, pass, _ := request.BasicAuth()
		if !same(user, username) || !same(pass, password) {
			http.Error(writer, "unauthorized", http.StatusUnauthorized)
			return
		}
		body, status := read(writer, request)
		if status != http.StatusOK {
			http.Error(writer, "the body cannot be read", status)
			return
		}
		parsed, good := parse(body)
		if !good {
			http.Error(writer, "not an event", http.StatusUnprocessableEntity)
			return
		}
		if parsed.EventType != wanted {
			answer(writer, "ignored", parsed.ID)
			return
		}
		// Not request.Context(): a client that disconnects does not cancel the call.
		ctx, cancel := context.WithTimeout(context.Background(), sqsTimeout)
		defer cancel()
		err := send(ctx, string(body), map[string]types.MessageAttributeValue{
			"event_id":    text(parsed.ID),
			"event_type":  text(parsed.EventType),
			"api_version": text(parsed.APIVersion),
			"received_at": text(strconv.FormatInt(time.Now().UnixMilli(), 10)),
		})
		if err != nil {
			http.Error(writer, "SQS has not acknowledged", http.StatusServiceUnavailable)
			return
		}
		answer(writer, "queued", parsed.ID)
	}
}

func answer(writer http.ResponseWriter, status, eventID string) {
	writer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(writer).Encode(map[string]string{"status": status, "event_id": eventID})
}

func main() {
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	keep := awshttp.NewBuildableClient().WithTransportOptions(func(transport *http.Transport) {
		transport.MaxIdleConnsPerHost = connections
	}).WithTimeout(sqsTimeout / attempts)
	configuration, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(keep))
	if err != nil {
		log.Fatal(err)
	}
	env := os.Getenv
	http.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	groupCommit := len(os.Args) > 1 && os.Args[1] == "-group-commit"
	client := sqs.NewFromConfig(configuration, func(options *sqs.Options) {
		// v02 to v08 compare the MD5 of the body in SQS's answer; v09 and later do not.
		options.DisableMessageChecksumValidation = groupCommit
	})
	send := one(client, env("APP_SQS_QUEUE_URL"))
	if groupCommit {
		send = batches(client, env("APP_SQS_QUEUE_URL"))
	}
	http.HandleFunc("POST /webhooks/chargebee",
		receive(send, env("APP_BASIC_AUTH_USERNAME"), env("APP_BASIC_AUTH_PASSWORD")))
	server := &http.Server{
		Addr: "127.0.0.1:" + env("APP_PORT"), ReadTimeout: 10 * time.Second, IdleTimeout: 65 * time.Second,
	}
	drained := make(chan error)
	go func() {
		<-ctx.Done()
		drained <- server.Shutdown(context.Background())
	}()
	// ListenAndServe returns when Shutdown begins, and Shutdown when the webhooks in flight have been answered.
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
	if err := <-drained; err != nil {
		log.Fatal(err)
	}
}
