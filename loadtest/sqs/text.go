package main

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string. A lone surrogate is an error, because UTF-8 cannot represent it.
func (r *reader) text() string {
	r.expect('"')
	text := r.scratch[:0]
	for start := r.at; r.at < len(r.data); r.at++ {
		switch char := r.data[r.at]; {
		case char == '"':
			text = append(text, r.data[start:r.at]...)
			r.at++
			r.scratch = text
			return string(text)
		case char == '\\':
			text = r.escaped(append(text, r.data[start:r.at]...))
			start = r.at + 1
		case char < ' ':
			r.fail()
		}
	}
	r.fail()
	return ""
}

const escapes, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"

// escaped appends the character of the escape sequence at `at`, and moves `at` to the last byte of the sequence.
func (r *reader) escaped(text []byte) []byte {
	r.at++
	if r.at >= len(r.data) {
		return text
	}
	for i := range len(escapes) {
		if r.data[r.at] == escapes[i] {
			return append(text, meanings[i])
		}
	}
	char := r.hex()
	if utf16.IsSurrogate(char) {
		if r.at+2 < len(r.data) && r.data[r.at+1] == '\\' {
			r.at += 2
			char = utf16.DecodeRune(char, r.hex())
		} else {
			char = utf8.RuneError
		}
		if char == utf8.RuneError {
			r.fail()
		}
	}
	return utf8.AppendRune(text, char)
}

// hex reads uXXXX, and leaves `at` on the last digit.
func (r *reader) hex() rune {
	if r.at+4 >= len(r.data) || r.data[r.at] != 'u' {
		r.fail()
		return 0
	}
	char, err := strconv.ParseUint(string(r.data[r.at+1:r.at+5]), 16, 16)
	if err != nil {
		r.fail()
		return 0
	}
	r.at += 4
	return rune(char)
}

func (r *reader) textOrNil() *string {
	text := r.text()
	return &text
}
