package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// signer makes the heads of SendMessageBatch requests, with Signature Version 4. It caches the day's key, and is not
// safe for concurrent use.
type signer struct {
	host, region, accessKey, secretKey, token string
	day                                       string
	key                                       []byte
	head                                      []byte
}

const (
	algorithm   = "AWS4-HMAC-SHA256"
	contentType = "application/x-amz-json-1.0"
	target      = "AmazonSQS.SendMessageBatch"
)

func sum(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// sign returns the head of a request with body. The next call reuses its bytes.
func (s *signer) sign(body []byte, now time.Time) []byte {
	date := now.UTC().Format("20060102T150405Z")
	token, names := "", "content-type;host;x-amz-date;x-amz-target"
	if s.token != "" {
		token = "x-amz-security-token:" + s.token + "\n"
		names = "content-type;host;x-amz-date;x-amz-security-token;x-amz-target"
	}
	digest := sha256.Sum256(body)
	canonical := "POST\n/\n\ncontent-type:" + contentType + "\nhost:" + s.host + "\nx-amz-date:" + date + "\n" + token +
		"x-amz-target:" + target + "\n\n" + names + "\n" + hex.EncodeToString(digest[:])
	scope := date[:8] + "/" + s.region + "/sqs/aws4_request"
	hashed := sha256.Sum256([]byte(canonical))
	signature := sum(s.dayKey(date[:8]), algorithm+"\n"+date+"\n"+scope+"\n"+hex.EncodeToString(hashed[:]))

	head := append(s.head[:0], "POST / HTTP/1.1\r\nHost: "...)
	head = append(append(head, s.host...), "\r\nContent-Type: "+contentType+"\r\nX-Amz-Target: "+target+"\r\nX-Amz-Date: "...)
	head = append(append(head, date...), "\r\n"...)
	if s.token != "" {
		head = append(append(append(head, "X-Amz-Security-Token: "...), s.token...), "\r\n"...)
	}
	head = append(head, "Authorization: "+algorithm+" Credential="...)
	head = append(append(append(head, s.accessKey...), '/'), scope...)
	head = append(append(append(head, ", SignedHeaders="...), names...), ", Signature="...)
	head = hex.AppendEncode(head, signature)
	head = strconv.AppendInt(append(head, "\r\nContent-Length: "...), int64(len(body)), 10)
	s.head = append(head, "\r\n\r\n"...)
	return s.head
}

func (s *signer) dayKey(day string) []byte {
	if s.day != day {
		s.key = sum(sum(sum(sum([]byte("AWS4"+s.secretKey), day), s.region), "sqs"), "aws4_request")
		s.day = day
	}
	return s.key
}
