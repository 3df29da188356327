package main

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net"
	"strings"

	"github.com/valyala/fasthttp"
)

// A longer body is refused unread if the credentials are wrong. A client may not see an answer to a body that is
// refused while it is sent, so a short body is read.
const unauthorizedBytes = 16 * 1024

// limit is called before the body is read.
func (s *service) limit(header *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if s.authorized(header) {
		return fasthttp.RequestConfig{}
	}
	return fasthttp.RequestConfig{MaxRequestBodySize: unauthorizedBytes}
}

// refuse answers a request that cannot be read.
func (s *service) refuse(ctx *fasthttp.RequestCtx, err error) {
	var failure net.Error
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge) && !s.authorized(&ctx.Request.Header):
		unauthorized(ctx)
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		ctx.Error("too large", fasthttp.StatusRequestEntityTooLarge)
	case errors.As(err, &failure) && failure.Timeout():
		ctx.Error("too slow", fasthttp.StatusRequestTimeout)
	default:
		ctx.Error("not a request", fasthttp.StatusBadRequest)
	}
}

func unauthorized(ctx *fasthttp.RequestCtx) {
	ctx.Error("unauthorized", fasthttp.StatusUnauthorized)
	ctx.Response.Header.Set("WWW-Authenticate", "Basic")
}

// authorized compares in constant time.
func (s *service) authorized(request *fasthttp.RequestHeader) bool {
	header := request.Peek("Authorization")
	var decoded [512]byte
	scheme, encoded := header[:min(6, len(header))], header[min(6, len(header)):]
	if !strings.EqualFold(string(scheme), "Basic ") || base64.StdEncoding.DecodedLen(len(encoded)) > len(decoded) {
		return false
	}
	size, err := base64.StdEncoding.Decode(decoded[:], encoded)
	if err != nil {
		return false
	}
	colon := 0
	for colon < size && decoded[colon] != ':' {
		colon++
	}
	if colon == size {
		return false
	}
	user := subtle.ConstantTimeCompare(decoded[:colon], s.username)
	return user&subtle.ConstantTimeCompare(decoded[colon+1:size], s.password) == 1
}
