package main

import (
	"encoding/json"
	"errors"
	"regexp"
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
