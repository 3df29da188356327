package main

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// canonical returns the canonical request of Signature Version 4, which is hashed for the signature.
func canonical(request *http.Request, body []byte, signed []string) []byte {
	path, query, _ := strings.Cut(request.RequestURI, "?")
	text := make([]byte, 0, 1024)
	text = append(text, request.Method...)
	text = append(text, '\n')
	text = append(text, encode(withoutDots(path))...)
	text = append(text, '\n')
	text = append(text, sortedQuery(query)...)
	text = append(text, '\n')
	for _, name := range signed {
		text = append(append(text, name...), ':')
		text = append(append(text, headerValue(request, name)...), '\n')
	}
	text = append(text, '\n')
	text = append(append(text, strings.Join(signed, ";")...), '\n')
	hashed := sha256.Sum256(body)
	return hex.AppendEncode(text, hashed[:])
}

// headerValue joins repeated headers, and replaces several spaces by one. Go's map of headers does not have Host and
// Content-Length.
func headerValue(request *http.Request, name string) string {
	switch name {
	case "host":
		return request.Host
	case "content-length":
		return strconv.FormatInt(request.ContentLength, 10)
	}
	values := request.Header.Values(name)
	if len(values) == 1 && !strings.Contains(values[0], "  ") {
		return strings.TrimSpace(values[0])
	}
	joined := make([]string, len(values))
	for i, value := range values {
		joined[i] = strings.Join(strings.Fields(value), " ")
	}
	return strings.Join(joined, ",")
}

// withoutDots removes dot segments and repeated slashes, as all services except S3 do.
func withoutDots(path string) string {
	var kept []string
	for segment := range strings.SplitSeq(path, "/") {
		switch {
		case segment == "" || segment == ".":
		case segment != "..":
			kept = append(kept, segment)
		case len(kept) > 0:
			kept = kept[:len(kept)-1]
		}
	}
	normal := "/" + strings.Join(kept, "/")
	if len(kept) > 0 && strings.HasSuffix(path, "/") {
		normal += "/"
	}
	return normal
}

// encode escapes all characters except unreserved characters and slashes. Signature Version 4 escapes the path twice,
// and the path in the request is escaped once.
func encode(path string) string {
	var text strings.Builder
	for _, char := range []byte(path) {
		switch {
		case 'a' <= char && char <= 'z', 'A' <= char && char <= 'Z', '0' <= char && char <= '9',
			strings.IndexByte("/-_.~", char) >= 0:
			text.WriteByte(char)
		default:
			text.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{char})))
		}
	}
	return text.String()
}

func sortedQuery(query string) string {
	if query == "" {
		return ""
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		if !strings.Contains(pair, "=") {
			pairs[i] += "="
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}
