// SQS as far as a load test needs it: its JSON protocol, signatures, limits, and a digest of every message for the
// audit. It speaks TLS by itself and keeps no bodies unless told to, so that it does not bound what it measures.
//
//	sqs -port 0 -cert FILE -key FILE    prints {"endpoint": "https://127.0.0.1:PORT"} once it listens
//	sqs -upstream URL …                 is only the TLS in front of another queue, which has none
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime"
	"time"
)

func main() {
	port := flag.Int("port", 0, "port on 127.0.0.1; 0 picks a free one")
	certFile := flag.String("cert", "", "PEM file of the certificate; without it, plain HTTP")
	keyFile := flag.String("key", "", "PEM file of its key")
	accessKey := flag.String("access-key", "local", "access key that requests are signed with")
	secretKey := flag.String("secret-key", "local", "its secret")
	bodies := flag.Bool("bodies", false, "keep bodies too, so that messages can be received")
	upstream := flag.String("upstream", "", "pass everything on to the queue at this URL")
	exitWithStdin := flag.Bool("exit-with-stdin", false, "exit when standard input ends, as it does with the parent")
	flag.Parse()

	listener, scheme, err := listen(*port, *certFile, *keyFile)
	if err != nil {
		log.Fatal(err)
	}
	if *exitWithStdin {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
	}
	fmt.Printf("{\"endpoint\": \"%s://%s\"}\n", scheme, listener.Addr())
	// Go collects garbage when the heap has doubled. Without ballast, the heap is so small that Go would collect it 30
	// times a second, for a tenth of the CPU. The ballast takes no memory, because nothing is ever written to it.
	ballast := make([]byte, 24<<20)
	var service http.Handler = newService(newVerifier(*accessKey, *secretKey), newQueues(*bodies), scheme)
	if *upstream != "" {
		queue, err := url.Parse(*upstream)
		if err != nil {
			log.Fatal(err)
		}
		service = httputil.NewSingleHostReverseProxy(queue)
	}
	server := &http.Server{
		Handler: service,
		// Longer than any client's own, so that a connection is never closed under a request.
		IdleTimeout:       10 * time.Minute,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	log.Print(server.Serve(listener))
	runtime.KeepAlive(ballast)
}

// listen opens the port, with TLS if there is a certificate. It offers HTTP/1.1 only, as SQS does.
func listen(port int, certFile, keyFile string) (net.Listener, string, error) {
	address := fmt.Sprintf("127.0.0.1:%d", port)
	if certFile == "" {
		listener, err := net.Listen("tcp", address)
		return listener, "http", err
	}
	certificate, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, "", err
	}
	listener, err := tls.Listen("tcp", address, &tls.Config{
		Certificates: []tls.Certificate{certificate},
		NextProtos:   []string{"http/1.1"},
	})
	return listener, "https", err
}
