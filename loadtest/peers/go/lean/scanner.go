package main

import "unicode/utf8"

// maxDepth limits nested arrays and objects, as encoding/json does.
const maxDepth = 10_000

// scanner reads JSON once, and allocates nothing. After the first error, bad is true and each method does nothing.
type scanner struct {
	data  []byte
	at    int
	depth int
	bad   bool
}

// valid reports whether data is valid UTF-8 and exactly one JSON value that read accepts.
func valid(data []byte, read func(*scanner)) bool {
	s := scanner{data: data}
	read(&s)
	s.space()
	return !s.bad && s.at == len(data) && utf8.Valid(data)
}

func (s *scanner) space() {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\n' || s.data[s.at] == '\r' || s.data[s.at] == '\t') {
		s.at++
	}
}

// next returns the first byte of the next token, or 0 at the end.
func (s *scanner) next() byte {
	s.space()
	if s.bad || s.at == len(s.data) {
		return 0
	}
	return s.data[s.at]
}

func (s *scanner) expect(token byte) {
	if s.next() != token {
		s.bad = true
		return
	}
	s.at++
}

// list reads a list between open and end. one reads each item.
func (s *scanner) list(open, end byte, one func()) {
	s.expect(open)
	if s.depth++; s.depth > maxDepth {
		s.bad = true
	}
	if s.next() == end {
		s.at++
		s.depth--
		return
	}
	for !s.bad {
		one()
		if s.next() != ',' {
			break
		}
		s.at++
	}
	s.expect(end)
	s.depth--
}

func (s *scanner) array(one func()) { s.list('[', ']', one) }

// object calls member for each key. member must read the value.
func (s *scanner) object(member func(key []byte)) {
	s.list('{', '}', func() {
		key := s.text()
		s.expect(':')
		if !s.bad {
			member(key)
		}
	})
}

// skip reads any value.
func (s *scanner) skip() {
	switch s.next() {
	case '{':
		s.object(func([]byte) { s.skip() })
	case '[':
		s.array(s.skip)
	case '"':
		s.text()
	case 't', 'f':
		s.truth()
	case 'n':
		s.word("null")
	default:
		s.number()
	}
}
