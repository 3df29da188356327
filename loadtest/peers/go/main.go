// The same work in Go: Basic auth, a validated Chargebee event, one SendMessage per webhook, then 200.
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
	"regexp"
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
	// As in the releases. The SDK's default is 10 idle connections; the others would be opened anew for each call.
	// https://github.com/aws/aws-sdk-go-v2/blob/v1.47.6/aws/transport/http/client.go#L21
	connections = 64
)

var eventID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// event holds the required fields of a Chargebee event; pointers distinguish a missing field from a zero value.
type event struct {
	ID            string           `json:"id"`
	OccurredAt    *int64           `json:"occurred_at"`
	Source        *string          `json:"source"`
	Object        string           `json:"object"`
	APIVersion    *string          `json:"api_version"`
	EventType     *string          `json:"event_type"`
	WebhookStatus *string          `json:"webhook_status"`
	Content       *json.RawMessage `json:"content"`
}

type content struct {
	Invoice *struct {
		ID            *string `json:"id"`
		CustomerID    *string `json:"customer_id"`
		Recurring     *bool   `json:"recurring"`
		Status        *string `json:"status"`
		PriceType     *string `json:"price_type"`
		CurrencyCode  *string `json:"currency_code"`
		Tax           *int64  `json:"tax"`
		SubTotal      *int64  `json:"sub_total"`
		TermFinalized *bool   `json:"term_finalized"`
		IsGifted      *bool   `json:"is_gifted"`
		LineItems     []struct {
			DateFrom    *int64  `json:"date_from"`
			DateTo      *int64  `json:"date_to"`
			UnitAmount  *int64  `json:"unit_amount"`
			IsTaxed     *bool   `json:"is_taxed"`
			Description *string `json:"description"`
			EntityType  *string `json:"entity_type"`
		} `json:"line_items"`
	} `json:"invoice"`
}

func parse(body []byte) (*event, error) {
	var parsed event
	if err := json.Unmarshal(body, &parsed); err != nil {
		return nil, err
	}
	missing := parsed.OccurredAt == nil || parsed.Source == nil || parsed.APIVersion == nil ||
		parsed.EventType == nil || parsed.WebhookStatus == nil || parsed.Content == nil
	if missing || parsed.Object != "event" || !eventID.MatchString(parsed.ID) {
		return nil, errors.New("not an event")
	}
	var inner content
	if err := json.Unmarshal(*parsed.Content, &inner); err != nil {
		return nil, err
	}
	invoice := inner.Invoice
	if invoice == nil || invoice.ID == nil || invoice.CustomerID == nil || invoice.Recurring == nil ||
		invoice.Status == nil || invoice.PriceType == nil || invoice.CurrencyCode == nil || invoice.Tax == nil ||
		invoice.SubTotal == nil || invoice.TermFinalized == nil || invoice.IsGifted == nil {
		return nil, errors.New("not an invoice")
	}
	for _, item := range invoice.LineItems {
		if item.DateFrom == nil || item.DateTo == nil || item.UnitAmount == nil || item.IsTaxed == nil ||
			item.Description == nil || item.EntityType == nil {
			return nil, errors.New("not a line item")
		}
	}
	return &parsed, nil
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func text(value string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &value}
}

func receive(client *sqs.Client, queueURL, username, password string) http.HandlerFunc {
	return func(writer http.ResponseWriter, request *http.Request) {
		user, pass, _ := request.BasicAuth()
		if !same(user, username) || !same(pass, password) {
			http.Error(writer, "unauthorized", http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, maxBodyBytes))
		if err != nil {
			http.Error(writer, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		parsed, err := parse(body)
		if err != nil {
			http.Error(writer, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		ctx, cancel := context.WithTimeout(request.Context(), sqsTimeout)
		defer cancel()
		_, err = client.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl:    &queueURL,
			MessageBody: aws.String(string(body)),
			MessageAttributes: map[string]types.MessageAttributeValue{
				"event_id":    text(parsed.ID),
				"event_type":  text(*parsed.EventType),
				"api_version": text(*parsed.APIVersion),
				"received_at": text(strconv.FormatInt(time.Now().UnixMilli(), 10)),
			},
		})
		if err != nil {
			http.Error(writer, "SQS has not acknowledged", http.StatusServiceUnavailable)
			return
		}
		writer.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(writer).Encode(map[string]string{"status": "queued", "event_id": parsed.ID})
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	keep := awshttp.NewBuildableClient().WithTransportOptions(func(transport *http.Transport) {
		transport.MaxIdleConnsPerHost = connections
	})
	configuration, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(keep))
	if err != nil {
		log.Fatal(err)
	}
	env := os.Getenv
	http.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("POST /webhooks/chargebee", receive(sqs.NewFromConfig(configuration),
		env("APP_SQS_QUEUE_URL"), env("APP_BASIC_AUTH_USERNAME"), env("APP_BASIC_AUTH_PASSWORD")))
	server := &http.Server{Addr: "127.0.0.1:" + env("APP_PORT"), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Shutdown(context.Background())
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
