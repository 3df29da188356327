// Does the same work as the other peers in Go, as lean as we can make it: fasthttp, reused buffers, the same group
// commit, and a client for SendMessageBatch alone, without the AWS SDK.
// Configured by variables of the service and the SDK: APP_PORT, APP_SQS_QUEUE_URL, APP_BASIC_AUTH_…, AWS_….
package main

import (
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	path         = "/webhooks/chargebee"
	maxBodyBytes = 245_760
	// Above this limit, fasthttp closes the connection. A body between maxBodyBytes and this limit gets a 413.
	readBodyBytes = 1024 * 1024
	// The service makes little garbage, so rare collections cost only a few MiB of memory.
	gcPercent = 400
)

// service handles webhooks.
type service struct {
	username, password []byte
	batches            *batches
}

func (s *service) handle(ctx *fasthttp.RequestCtx) {
	switch {
	case string(ctx.Path()) == "/readyz" && ctx.IsGet():
	case string(ctx.Path()) != path:
		ctx.Error("not found", fasthttp.StatusNotFound)
	case !ctx.IsPost():
		ctx.Error("POST only", fasthttp.StatusMethodNotAllowed)
	default:
		s.receive(ctx)
	}
}

func (s *service) receive(ctx *fasthttp.RequestCtx) {
	if !s.authorized(&ctx.Request.Header) {
		unauthorized(ctx)
		return
	}
	body := ctx.PostBody()
	if len(body) > maxBodyBytes {
		ctx.Error("too large", fasthttp.StatusRequestEntityTooLarge)
		return
	}
	found, good := parse(body)
	if !good {
		ctx.Error("not an event", fasthttp.StatusUnprocessableEntity)
		return
	}
	if !found.wanted() {
		answer(ctx, "ignored", found.id)
		return
	}
	if !s.batches.send(body, found) {
		ctx.Error("SQS has not acknowledged", fasthttp.StatusServiceUnavailable)
		return
	}
	answer(ctx, "queued", found.id)
}

func answer(ctx *fasthttp.RequestCtx, status string, eventID []byte) {
	ctx.Response.Header.SetContentType("application/json")
	ctx.Response.AppendBodyString(`{"status":"`)
	ctx.Response.AppendBodyString(status)
	ctx.Response.AppendBodyString(`","event_id":"`)
	ctx.Response.AppendBody(eventID)
	ctx.Response.AppendBodyString(`"}`)
}

func main() {
	debug.SetGCPercent(gcPercent)
	env := os.Getenv
	address := env("AWS_ENDPOINT_URL")
	if address == "" {
		address = env("APP_SQS_QUEUE_URL")
	}
	to, host, err := connectTo(address, env("AWS_CA_BUNDLE"))
	if err != nil {
		log.Fatal(err)
	}
	signing := signer{
		host: host, region: env("AWS_DEFAULT_REGION"),
		accessKey: env("AWS_ACCESS_KEY_ID"), secretKey: env("AWS_SECRET_ACCESS_KEY"), token: env("AWS_SESSION_TOKEN"),
	}
	served := &service{
		username: []byte(env("APP_BASIC_AUTH_USERNAME")), password: []byte(env("APP_BASIC_AUTH_PASSWORD")),
		batches: newBatches(to, signing, env("APP_SQS_QUEUE_URL")),
	}
	server := &fasthttp.Server{
		Handler: served.handle, HeaderReceived: served.limit, ErrorHandler: served.refuse,
		MaxRequestBodySize: readBodyBytes, ReadBufferSize: 16 * 1024,
		ReadTimeout: 10 * time.Second, IdleTimeout: 65 * time.Second, NoDefaultServerHeader: true, CloseOnShutdown: true,
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	drained := make(chan error)
	go func() {
		<-stop
		drained <- server.Shutdown()
	}()
	// ListenAndServe returns when Shutdown begins, and Shutdown when the webhooks in flight have been answered.
	if err := server.ListenAndServe("127.0.0.1:" + env("APP_PORT")); err != nil {
		log.Fatal(err)
	}
	if err := <-drained; err != nil {
		log.Fatal(err)
	}
}
