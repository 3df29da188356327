package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzReader compares the reader with encoding/json, except for lone surrogates, which encoding/json replaces, and deep
// nesting, which encoding/json accepts. `go test` runs only the seeds; `go test -fuzz Reader` runs more.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`{"a": "b", "c": [1, -2.5e+3, true, null, {"d": []}], "e": {}}`, `{"a": "\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é"}`,
		`{"a": "\ud83d"}`, `{"a": "\ud83dx"}`, `{"a": "\ud83d\u0041"}`, `{"a": "\u12"}`, `{"a": "\x"}`, `{"a": "`, `{"a": "\`,
		"{\"a\": \"\t\"}", `{"a" 1}`, `{"a": 01}`, `{"a": tru}`, `{"a": }`, `{"a": 1,}`, `{,}`, `{}x`, ` {} `, `[]`, ``, `{`, `{"a": [1 2]}`,
		`{"a": [1,]}`, `{a: 1}`, `{"a": nul}`, `{"a": +1}`, `{"a": 1}{}`, `{"a": "\ud83d\`, `{"a": "\ud83d\u`, "{}\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if !utf8.ValidString(data) || strings.Count(data, "{")+strings.Count(data, "[") >= maxDepth {
			return
		}
		var expected map[string]json.RawMessage
		valid := json.Unmarshal([]byte(data), &expected) == nil && expected != nil
		texts := map[string]string{}
		read := newReader([]byte(data))
		read.object(func(name string) {
			delete(texts, name)
			if read.next() == '"' {
				texts[name] = read.text()
			} else {
				read.skip()
			}
		})
		refused := read.end() != nil
		if surrogate := strings.Contains(strings.ToLower(data), `\ud`); refused == valid && !surrogate || !refused && !valid {
			t.Fatalf("%q: refused %v, valid %v", data, refused, valid)
		}
		for name, text := range texts {
			var other string
			if !refused && (json.Unmarshal(expected[name], &other) != nil || other != text) && string(expected[name]) != "null" {
				t.Fatalf("%q: %q is %q, read as %q", data, name, other, text)
			}
		}
	})
}

// The reader rejects lone surrogates, because UTF-8 cannot represent them, so the client's MD5 and the stand-in's MD5
// would differ.
func TestLoneSurrogate(t *testing.T) {
	for _, text := range []string{`"\ud83d"`, `"\ude00"`, `"\ud83d\u0041"`, `"\ude00\ud83d"`} {
		read := newReader([]byte(text))
		if read.text(); read.end() == nil {
			t.Errorf("%s was taken", text)
		}
	}
}
