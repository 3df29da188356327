package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
)

// endpoint is the address of SQS. tls is nil for plain HTTP.
type endpoint struct {
	address string
	tls     *tls.Config
}

// connectTo returns the endpoint of SQS, and the host for signatures. bundle replaces the system's CAs unless it is "".
func connectTo(address, bundle string) (endpoint, string, error) {
	parts, err := url.Parse(address)
	if err != nil {
		return endpoint{}, "", err
	}
	if parts.Scheme != "https" {
		return endpoint{address: withPort(parts, "80")}, parts.Host, nil
	}
	// TLS records have 16 KiB from the start, because a batch is written at once.
	config := &tls.Config{ServerName: parts.Hostname(), DynamicRecordSizingDisabled: true}
	if bundle != "" {
		certificates, err := os.ReadFile(bundle)
		if err != nil {
			return endpoint{}, "", err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(certificates) {
			return endpoint{}, "", fmt.Errorf("%s has no certificates", bundle)
		}
	}
	return endpoint{withPort(parts, "443"), config}, parts.Host, nil
}

func withPort(parts *url.URL, usual string) string {
	if parts.Port() != "" {
		return parts.Host
	}
	return parts.Host + ":" + usual
}
