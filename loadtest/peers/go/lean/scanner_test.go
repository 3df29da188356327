package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

var texts = []string{
	`{}`, `[]`, ` [1, -0, 0.5e-3, 1E+2, true, false, null, "é\"\\\/\b\f\n\r\t\u00e9"] `, `{"a": {"b": [{}, []]}, "a": ""}`,
	``, `01`, `-`, `1.`, `.5`, `1e`, `+1`, `"`, `"\x"`, `"\u12g4"`, "\"\n\"", `[1,]`, `{"a":}`, `{,}`, `{"a" 1}`, `[`, `nul`, `1 2`, "\"\xff\"", `"\ud800"`, `{"\udfff\ud800": 1}`,
}

func agrees(t *testing.T, data []byte) {
	t.Helper()
	expected := json.Valid(data) && utf8.Valid(data)
	if found := valid(data, (*scanner).skip); found != expected {
		t.Errorf("valid is %v and should be %v: %q", found, expected, data)
	}
}

// The scanner accepts the same texts as encoding/json, except texts that are not UTF-8.
func TestScannerAgreesWithEncodingJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, text := range texts {
		agrees(t, []byte(text))
		for range 3000 {
			mutated := []byte(text)
			for range 1 + random.IntN(2) {
				if len(mutated) > 0 {
					mutated[random.IntN(len(mutated))] = `{}[]",:\u0e+-.1tfn /`[random.IntN(20)]
				}
			}
			agrees(t, mutated)
		}
	}
}

func samples(t *testing.T) map[string][]byte {
	files, _ := filepath.Glob("../../../events/*.json")
	found := map[string][]byte{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Base(file)] = body
	}
	if len(found) == 0 {
		t.Fatal("no sample events")
	}
	return found
}

// A sample is an event if it has an invoice or another type. A sample that is cut off is not an event. Only every 61st
// length is tested, to save time.
func TestParseSamples(t *testing.T) {
	for name, body := range samples(t) {
		var decoded struct {
			ID        string
			EventType string `json:"event_type"`
			Content   struct{ Invoice map[string]any }
		}
		if err := json.Unmarshal(body, &decoded); err != nil {
			t.Fatal(err)
		}
		found, good := parse(body)
		if good != (decoded.Content.Invoice != nil || decoded.EventType != wanted) {
			t.Errorf("%s: %v", name, good)
		}
		if good && (string(found.id) != decoded.ID || string(found.eventType) != decoded.EventType) {
			t.Errorf("%s: %s %s", name, found.id, found.eventType)
		}
		for end := 0; end < len(body)-1; end += 61 {
			if _, good := parse(body[:end]); good {
				t.Fatalf("%s: the first %d bytes are accepted", name, end)
			}
		}
	}
}

// parse rejects an event without one of the required fields, or with a value of another type.
func TestParseRequiresFields(t *testing.T) {
	body := samples(t)["default.json"]
	required := map[string][]string{
		"": {"id", "occurred_at", "source", "object", "api_version", "event_type", "webhook_status", "content"},
		"invoice": {"id", "customer_id", "recurring", "status", "price_type", "currency_code", "tax", "sub_total",
			"term_finalized", "is_gifted"},
		"line_item": {"date_from", "date_to", "unit_amount", "is_taxed", "description", "entity_type"},
	}
	for where, names := range required {
		for _, name := range names {
			for _, replacement := range []any{nil, []any{}} {
				var event map[string]any
				_ = json.Unmarshal(body, &event)
				invoice := event["content"].(map[string]any)["invoice"].(map[string]any)
				item := invoice["line_items"].([]any)[0].(map[string]any)
				map[string]map[string]any{"": event, "invoice": invoice, "line_item": item}[where][name] = replacement
				changed, _ := json.Marshal(event)
				if _, good := parse(changed); good {
					t.Errorf("%s %s may be %v", where, name, replacement)
				}
			}
		}
	}
}
