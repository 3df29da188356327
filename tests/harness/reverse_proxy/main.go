// A reverse proxy as Go ships it: it reuses its connections to the service, and forwards requests for an upgrade.
//
//	reverse_proxy http://127.0.0.1:8000    prints its own address
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
)

func main() {
	service, err := url.Parse(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(service)
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 4, MaxConnsPerHost: 4}
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	fmt.Println(listener.Addr())
	log.Fatal(http.Serve(listener, proxy))
}
