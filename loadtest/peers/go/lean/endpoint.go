package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
)

// endpoint is where SQS is; tls is nil for plain HTTP.
type endpoint struct {
	address string
	tls     *tls.Config
}

// connectTo returns where SQS is, and its host as it is signed. AWS_CA_BUNDLE takes the place of the system's CAs.
func connectTo(address, bundle string) (endpoint, string, error) {
	parts, err := url.Parse(address)
	if err != nil {
		return endpoint{}, "", err
	}
	if parts.Scheme != "https" {
		return endpoint{address: withPort(parts, "80")}, parts.Host, nil
	}
	// Records of 16 KiB from the start: a batch is sent at once.
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
