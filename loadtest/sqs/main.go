// A stand-in for SQS with the parts that a load test needs: SQS's JSON protocol, signatures and limits, and a digest of
// every message for the audit. It speaks TLS without a proxy, and keeps no bodies without -bodies, so that it is fast
// enough not to limit a load test.
//
//	sqs -port 0 -cert FILE -key FILE    prints {"endpoint": "https://127.0.0.1:PORT"} when it listens
//	sqs -bodies -queue NAME …           creates the queues NAME and NAME-dead-letters at its start, for compose and kind
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"time"
)

func main() {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.Int("port", 0, "0 picks a free one")
	certFile := flag.String("cert", "", "PEM file of the certificate; without it, plain HTTP")
	keyFile := flag.String("key", "", "PEM file of its key")
	accessKey := flag.String("access-key", "local", "access key that requests are signed with")
	secretKey := flag.String("secret-key", "local", "its secret")
	bodies := flag.Bool("bodies", false, "keep bodies too, so that messages can be received")
	queue := flag.String("queue", "", "create this queue and its dead-letter queue; a name ending in .fifo makes both FIFO")
	exitWithStdin := flag.Bool("exit-with-stdin", false, "exit when standard input ends, as it does with the parent")
	flag.Parse()

	queues := newQueues(*bodies)
	if *queue != "" {
		if refused := queues.createPair(*queue); refused != nil {
			log.Fatal(refused)
		}
	}
	listener, scheme, err := listen(*host, *port, *certFile, *keyFile)
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
	server := &http.Server{
		Handler: newService(newVerifier(*accessKey, *secretKey), queues, scheme),
		// Longer than any client's idle time-out, so that the server never closes a connection on which a request arrives.
		IdleTimeout:       10 * time.Minute,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	log.Print(server.Serve(listener))
	runtime.KeepAlive(ballast)
}

// listen opens the port, with TLS if there is a certificate. It offers only HTTP/1.1, as SQS does.
func listen(host string, port int, certFile, keyFile string) (net.Listener, string, error) {
	address := net.JoinHostPort(host, strconv.Itoa(port))
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
