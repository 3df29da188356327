package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	algorithm  = "AWS4-HMAC-SHA256"
	amzTime    = "20060102T150405Z"
	maxSkew    = 15 * time.Minute
	terminator = "aws4_request"
)

// mustSign are the headers that each signature must cover. It must also cover a session token: see signsEnough.
var mustSign = []string{"host", "x-amz-date", "x-amz-target"}

// verifier checks Signature Version 4. It caches the signing keys of the day, because the four HMACs of a key would
// cost as much as the rest of the check.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
type verifier struct {
	accessKey, secretKey string
	keys                 sync.Map // scope without the access key → signing key
}

func newVerifier(accessKey, secretKey string) *verifier {
	return &verifier{accessKey: accessKey, secretKey: secretKey}
}

// authorization is the parsed Authorization header.
type authorization struct {
	scope     [5]string // access key, date, region, service, terminator
	signed    []string
	signature string
}

func parseAuthorization(header string) (authorization, bool) {
	var parsed authorization
	rest, found := strings.CutPrefix(header, algorithm+" ")
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "Credential":
			copy(parsed.scope[:], strings.Split(value, "/"))
		case "SignedHeaders":
			parsed.signed = strings.Split(value, ";")
		case "Signature":
			parsed.signature = value
		}
	}
	return parsed, found && parsed.signature != "" && parsed.scope[4] == terminator
}

// verify returns nil if the request with this body was signed with our secret in the last 15 minutes.
func (v *verifier) verify(request *http.Request, body []byte, now time.Time) *refusal {
	header := request.Header.Get("Authorization")
	if header == "" {
		return forbidden("MissingAuthenticationToken", "Request is missing Authentication Token")
	}
	parsed, complete := parseAuthorization(header)
	if !complete {
		return forbidden("IncompleteSignature", "Authorization header is not one of Signature Version 4")
	}
	if parsed.scope[0] != v.accessKey {
		return forbidden("InvalidClientTokenId", "The security token included in the request is invalid.")
	}
	stamp := request.Header.Get("X-Amz-Date")
	signedAt, err := time.Parse(amzTime, stamp)
	if err != nil || !strings.HasPrefix(stamp, parsed.scope[1]) || parsed.scope[3] != "sqs" || !signsEnough(request, parsed.signed) {
		return forbidden("IncompleteSignature", "The scope, the date or the signed headers do not fit the request")
	}
	if skew := now.Sub(signedAt); skew > maxSkew || skew < -maxSkew {
		return forbidden("RequestExpired", "Signature expired: "+stamp+" is more than 15 minutes from "+now.UTC().Format(amzTime))
	}
	if subtle.ConstantTimeCompare([]byte(v.sign(request, body, stamp, parsed)), []byte(parsed.signature)) != 1 {
		return forbidden("InvalidSignatureException", "The request signature we calculated does not match the signature you provided.")
	}
	return nil
}

// signsEnough returns true if the signature covers each header on which the caller's rights or the action depend,
// including a session token.
func signsEnough(request *http.Request, signed []string) bool {
	for _, name := range mustSign {
		if !slices.Contains(signed, name) {
			return false
		}
	}
	return request.Header.Get("X-Amz-Security-Token") == "" || slices.Contains(signed, "x-amz-security-token")
}

func (v *verifier) sign(request *http.Request, body []byte, stamp string, parsed authorization) string {
	hashed := sha256.Sum256(canonical(request, body, parsed.signed))
	scope := strings.Join(parsed.scope[1:], "/")
	text := algorithm + "\n" + stamp + "\n" + scope + "\n" + hex.EncodeToString(hashed[:])
	return hex.EncodeToString(mac(v.key(scope, parsed.scope), text))
}

func (v *verifier) key(scope string, parts [5]string) []byte {
	if known, found := v.keys.Load(scope); found {
		return known.([]byte)
	}
	key := []byte("AWS4" + v.secretKey)
	for _, part := range parts[1:] {
		key = mac(key, part)
	}
	v.keys.Store(scope, key)
	return key
}

func mac(key []byte, text string) []byte {
	hash := hmac.New(sha256.New, key)
	hash.Write([]byte(text))
	return hash.Sum(nil)
}
