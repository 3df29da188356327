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

// The same limits as in go_group_commit: calls in flight, entries in a call, and the bytes of these entries. attempts
// is the default of aws-sdk-go-v2.
const (
	slots      = 4
	maxEntries = 10
	maxBytes   = 256 * 1024
	attempts   = 3
	sqsTimeout = 10 * time.Second
)

// batches sends messages that wait at the same time in one SendMessageBatch. A free slot takes all waiting messages at
// once, without a timer.
type batches struct {
	queue    chan *waiting
	taking   sync.Mutex
	next     *waiting // exceeded maxBytes of the last call; guarded by taking
	calls    atomic.Int64
	reusable sync.Pool
}

// slot makes one call at a time. The number of slots limits the calls in flight.
type slot struct {
	*batches
	prefix     []byte // the beginning of each call's JSON, with the queue's URL
	connection connection
	signer     signer
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
	now := time.Now()
	one.set(body, found, now)
	one.deadline = now.Add(sqsTimeout)
	one.timer.Reset(sqsTimeout)
	select {
	case b.queue <- one:
	case <-one.timer.C:
		return false
	}
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

// take waits for a message, and adds the messages that wait behind it, until a message exceeds the limits of a call.
// Only one slot takes messages at a time. take drops the messages whose senders have stopped waiting.
func (s *slot) take() {
	s.taking.Lock()
	defer s.taking.Unlock()
	s.batch = s.batch[:0]
	for size := 0; len(s.batch) < maxEntries; {
		one := s.next
		s.next = nil
		switch {
		case one != nil:
		case len(s.batch) == 0:
			one = <-s.queue
		default:
			select {
			case one = <-s.queue:
			default:
				return
			}
		}
		if !time.Now().Before(one.deadline) {
			continue
		}
		if size += one.size; size > maxBytes {
			s.next = one
			return
		}
		s.batch = append(s.batch, one)
	}
}

// call tries to send the batch until the last sender stops waiting. Each attempt except the last may take an equal
// share of sqsTimeout. call returns a bit for each entry that SQS has acknowledged, or an error text.
func (s *slot) call() (int, string) {
	number := s.calls.Add(1)
	s.body = append(s.body[:0], s.prefix...)
	for i, one := range s.batch {
		s.body = appendID(append(s.body, `{"Id":"`...), number, i)
		s.body = append(append(s.body, one.entry...), ',')
	}
	s.body = append(s.body[:len(s.body)-1], "]}"...)
	deadline := s.batch[len(s.batch)-1].deadline
	for attempt := 1; ; attempt++ {
		now := time.Now()
		until := now.Add(sqsTimeout / attempts)
		if attempt == attempts || until.After(deadline) {
			until = deadline
		}
		status, answer, err := s.connection.request(s.signer.sign(s.body, now), s.body, until)
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
