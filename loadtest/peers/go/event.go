package main

import (
	"encoding/json"
	"regexp"
	"unicode/utf8"
)

// wanted is the type of the events that are queued. The others are ignored.
const wanted = "pending_invoice_created"

// The patterns are the same as in app/events.py.
var (
	eventID    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)
	eventType  = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)
	apiVersion = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,20}$`)
)

// event holds the required fields of a Chargebee event; pointers distinguish a missing field from a zero value.
type event struct {
	ID            string  `json:"id"`
	OccurredAt    *int64  `json:"occurred_at"`
	Source        *string `json:"source"`
	Object        string  `json:"object"`
	APIVersion    string  `json:"api_version"`
	EventType     string  `json:"event_type"`
	WebhookStatus *string `json:"webhook_status"`
	Content       *struct {
		Invoice *invoice `json:"invoice"`
	} `json:"content"`
}

type invoice struct {
	ID            *string    `json:"id"`
	CustomerID    *string    `json:"customer_id"`
	Recurring     *bool      `json:"recurring"`
	Status        *string    `json:"status"`
	PriceType     *string    `json:"price_type"`
	CurrencyCode  *string    `json:"currency_code"`
	Tax           *int64     `json:"tax"`
	SubTotal      *int64     `json:"sub_total"`
	TermFinalized *bool      `json:"term_finalized"`
	IsGifted      *bool      `json:"is_gifted"`
	LineItems     []lineItem `json:"line_items"`
}

type lineItem struct {
	DateFrom    *int64  `json:"date_from"`
	DateTo      *int64  `json:"date_to"`
	UnitAmount  *int64  `json:"unit_amount"`
	IsTaxed     *bool   `json:"is_taxed"`
	Description *string `json:"description"`
	EntityType  *string `json:"entity_type"`
}

// parse returns false if body is not an event. Only an event of the wanted type needs an invoice.
func parse(body []byte) (*event, bool) {
	var parsed event
	// Checked here, because encoding/json accepts invalid UTF-8 and replaces it.
	if !utf8.Valid(body) || json.Unmarshal(body, &parsed) != nil || !parsed.complete() {
		return nil, false
	}
	return &parsed, parsed.EventType != wanted || parsed.Content.Invoice.complete()
}

func (e *event) complete() bool {
	return e.OccurredAt != nil && e.Source != nil && e.Object == "event" && e.WebhookStatus != nil && e.Content != nil &&
		eventID.MatchString(e.ID) && eventType.MatchString(e.EventType) && apiVersion.MatchString(e.APIVersion)
}

func (i *invoice) complete() bool {
	if i == nil || i.ID == nil || i.CustomerID == nil || i.Recurring == nil || i.Status == nil || i.PriceType == nil ||
		i.CurrencyCode == nil || i.Tax == nil || i.SubTotal == nil || i.TermFinalized == nil || i.IsGifted == nil {
		return false
	}
	for _, item := range i.LineItems {
		if item.DateFrom == nil || item.DateTo == nil || item.UnitAmount == nil || item.IsTaxed == nil ||
			item.Description == nil || item.EntityType == nil {
			return false
		}
	}
	return true
}
