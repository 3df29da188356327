package main

// text reads a string, and returns the bytes between the quotes, with their escapes.
func (s *scanner) text() []byte {
	s.expect('"')
	if s.bad {
		return nil
	}
	for start := s.at; s.at < len(s.data); s.at++ {
		switch character := s.data[s.at]; {
		case character == '"':
			s.at++
			return s.data[start : s.at-1]
		case character == '\\':
			s.escape()
		case character < ' ':
			s.bad = true
			return nil
		}
	}
	s.bad = true
	return nil
}

// escape reads an escape sequence, and leaves at on the last byte of the sequence.
func (s *scanner) escape() {
	s.at++
	if s.at == len(s.data) {
		return
	}
	switch s.data[s.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
	case 'u':
		for range 4 {
			if s.at++; s.at == len(s.data) || !hexadecimal(s.data[s.at]) {
				s.bad = true
				s.at--
				return
			}
		}
	default:
		s.bad = true
	}
}

func hexadecimal(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (s *scanner) digits() int {
	start := s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		s.at++
	}
	return s.at - start
}

// number reads a number and reports whether it is an integer of at most 18 digits.
func (s *scanner) number() bool {
	if s.next() == '-' {
		s.at++
	}
	start := s.at
	digits := s.digits()
	if digits == 0 || digits > 1 && s.data[start] == '0' {
		s.bad = true
		return false
	}
	integer := digits <= 18
	if s.at < len(s.data) && s.data[s.at] == '.' {
		s.at++
		integer = false
		s.bad = s.bad || s.digits() == 0
	}
	if s.at < len(s.data) && s.data[s.at]|0x20 == 'e' {
		if s.at++; s.at < len(s.data) && (s.data[s.at] == '+' || s.data[s.at] == '-') {
			s.at++
		}
		integer = false
		s.bad = s.bad || s.digits() == 0
	}
	return integer
}

func (s *scanner) word(word string) {
	s.space()
	if len(s.data)-s.at < len(word) || string(s.data[s.at:s.at+len(word)]) != word {
		s.bad = true
		return
	}
	s.at += len(word)
}

// integer and truth read a value, and set bad if the value has another type.
func (s *scanner) integer() {
	if !s.number() {
		s.bad = true
	}
}

func (s *scanner) truth() {
	if s.next() == 't' {
		s.word("true")
	} else {
		s.word("false")
	}
}
