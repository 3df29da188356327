package main

import (
	"bytes"
	"log"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// As go_group_commit: calls in flight, entries in a call, their bytes. attempts are those of aws-sdk-go-v2.
const (
	slots      = 4
	maxEntries = 10
	maxBytes   = 256 * 1024
	attempts   = 3
	sqsTimeout = 10 * time.Second
)

// batches sends what waits at the same time by one SendMessageBatch: a free slot takes what is there, without a timer.
type batches struct {
	queue    chan *waiting
	calls    atomic.Int64
	reusable sync.Pool
}

// slot is one of the calls in flight.
type slot struct {
	*batches
	prefix     []byte // of a call's JSON: the queue's URL
	connection connection
	signer     signer
	next       *waiting // has not fitted into the last call
	batch      []*waiting
	body       []byte
}

func newBatches(to endpoint, signer signer, queueURL string) *batches {
	b := &batches{queue: make(chan *waiting, 10_000), reusable: sync.Pool{New: newWaiting}}
	prefix := []byte(`{"QueueUrl":` + strconv.Quote(queueURL) + `,"Entries":[`)
	for range slots {
		go (&slot{batches: b, prefix: prefix, connection: connection{to: to}, signer: signer}).run()
	}
	return b
}

// send returns whether SQS has acknowledged the message within sqsTimeout.
func (b *batches) send(body []byte, found event) bool {
	one := b.reusable.Get().(*waiting)
	one.set(body, found, time.Now())
	one.timer.Reset(sqsTimeout)
	b.queue <- one
	select {
	case sent := <-one.sent:
		one.timer.Stop()
		b.reusable.Put(one)
		return sent
	case <-one.timer.C:
		return false
	}
}

func (s *slot) run() {
	for {
		s.take()
		acknowledged, err := s.call()
		if err != "" {
			log.Print("SendMessageBatch: ", err)
		}
		for i, one := range s.batch {
			one.sent <- acknowledged&(1<<i) != 0
		}
	}
}

// take waits for a message, and adds those that wait behind it, as far as they fit.
func (s *slot) take() {
	first := s.next
	if s.next = nil; first == nil {
		first = <-s.queue
	}
	s.batch = append(s.batch[:0], first)
	for size := first.size; len(s.batch) < maxEntries; {
		select {
		case one := <-s.queue:
			if size += one.size; size > maxBytes {
				s.next = one
				return
			}
			s.batch = append(s.batch, one)
		default:
			return
		}
	}
}

// call sends the batch, and returns a bit for each entry that SQS has acknowledged, or what went wrong.
func (s *slot) call() (int, string) {
	number := s.calls.Add(1)
	s.body = append(s.body[:0], s.prefix...)
	for i, one := range s.batch {
		s.body = appendID(append(s.body, `{"Id":"`...), number, i)
		s.body = append(append(s.body, one.entry...), ',')
	}
	s.body = append(s.body[:len(s.body)-1], "]}"...)
	deadline := time.Now().Add(sqsTimeout)
	for attempt := 1; ; attempt++ {
		status, answer, err := s.connection.request(s.signer.sign(s.body, time.Now()), s.body, deadline)
		if err == nil && status == 200 {
			return s.acknowledged(answer, number)
		}
		if attempt == attempts || err == nil && status < 500 && !bytes.Contains(answer, []byte("Throttl")) {
			if err != nil {
				return 0, err.Error()
			}
			return 0, string(answer)
		}
		time.Sleep(rand.N(100 * time.Millisecond << attempt))
	}
}
