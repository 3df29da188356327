package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	drippedEvery = time.Millisecond // between two bytes
	resetAfter   = 5 * time.Millisecond
	staysOpen    = 5 * time.Second // after a doubled answer, unless the client closes or asks again
	small        = 900 << 10       // below the bound that a client may have for an answer
	large        = 32 << 20
)

// writings are the ways to write an answer of 200, by the value of the setting `answer`; all but "" are faults.
var writings = map[string]func(http.ResponseWriter, []byte){
	"":          writeWhole,
	"twice":     writeTwice,
	"truncated": writeTruncated,
	"drip":      writeDripping,
	"close":     writeAndClose,
	"reset":     writeAndReset,
	"giant":     writeGiant,
}

func writeWhole(writer http.ResponseWriter, body []byte) { writeJSON(writer, http.StatusOK, body) }

// writeAndClose sends a valid answer that ends the connection.
func writeAndClose(writer http.ResponseWriter, body []byte) {
	writer.Header().Set("Connection", "close")
	writeWhole(writer, body)
}

// writeTwice sends the answer again right after itself, as if to a second request.
func writeTwice(writer http.ResponseWriter, body []byte) {
	connection, _, err := writer.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer connection.Close()
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n", len(body))
	_, _ = connection.Write(bytes.Repeat(append([]byte(head), body...), 2))
	_ = connection.SetReadDeadline(time.Now().Add(staysOpen))
	_, _ = connection.Read(make([]byte, 1))
}

// writeHalf sends the head of the whole answer and the first half of its body.
func writeHalf(writer http.ResponseWriter, body []byte) {
	writer.Header().Set("Content-Length", fmt.Sprint(len(body)))
	writeWhole(writer, body[:len(body)/2])
	_ = http.NewResponseController(writer).Flush()
}

// writeTruncated closes the connection in the middle of the answer.
func writeTruncated(writer http.ResponseWriter, body []byte) {
	writeHalf(writer, body)
	panic(http.ErrAbortHandler)
}

// writeAndReset ends the connection with RST in the middle of the answer.
func writeAndReset(writer http.ResponseWriter, body []byte) {
	writeHalf(writer, body)
	time.Sleep(resetAfter) // the half that was sent arrives before the RST
	reset(writer)
}

// writeDripping sends the body byte by byte, as long as the client waits.
func writeDripping(writer http.ResponseWriter, body []byte) {
	writer.Header().Set("Content-Length", fmt.Sprint(len(body)))
	writeWhole(writer, nil)
	flusher := http.NewResponseController(writer)
	for i := range body {
		if _, err := writer.Write(body[i : i+1]); err != nil || flusher.Flush() != nil {
			return
		}
		time.Sleep(drippedEvery)
	}
}

var giants atomic.Uint64

// writeGiant pads the answer with spaces, which JSON allows: in turn a large 200, a small 404, a small 200 and a large
// 404. Each ends the connection.
func writeGiant(writer http.ResponseWriter, body []byte) {
	turn := giants.Add(1)
	status, size := http.StatusOK, large
	if turn%2 == 0 {
		status = http.StatusNotFound
		body, _ = json.Marshal(map[string]string{"__type": namespace + "NotFound", "message": "planted"})
	}
	if turn%4 > 1 {
		size = small
	}
	writer.Header().Set("Connection", "close")
	writer.Header().Set("Content-Length", fmt.Sprint(len(body)+size))
	writeJSON(writer, status, body)
	spaces := bytes.Repeat([]byte(" "), 64<<10)
	for sent := 0; sent < size; sent += len(spaces) {
		if _, err := writer.Write(spaces[:min(len(spaces), size-sent)]); err != nil {
			return
		}
	}
}
