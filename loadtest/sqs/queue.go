package main

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"
)

const (
	deduplicationWindow = 5 * time.Minute
	chunkSize           = 4096
)

// stored has the digests of a message. They are all that the stand-in keeps of a message without -bodies.
type stored struct{ body, attributes digest }

// receipt is SQS's response to a sent message. sequence is "" on a standard queue.
type receipt struct {
	id, sequence string
	digests      stored
}

// queue keeps 32 bytes for each message, in chunks, because one growing slice would be copied and doubled.
type queue struct {
	name       string
	attributes map[string]string
	created    time.Time

	mutex    sync.Mutex
	digests  [][]stored
	sequence uint64
	recent   map[string]duplicate // by deduplication id; only on FIFO queues
	swept    time.Time
	shelf    *shelf // nil without -bodies
}

// duplicate is the response if the same deduplication id is sent again.
type duplicate struct {
	receipt receipt
	until   time.Time
}

func (q *queue) isFIFO() bool       { return q.attributes["FifoQueue"] == "true" }
func (q *queue) contentBased() bool { return q.attributes["ContentBasedDeduplication"] == "true" }

// add stores copies of the message (0 for an injected loss, 2 for an injected double), and acknowledges it once.
func (q *queue) add(sent *message, copies int, now time.Time) receipt {
	digests := stored{bodyDigest(*sent.MessageBody), attributesDigest(sent.MessageAttributes)}
	answer := receipt{id: messageID(), digests: digests}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.isFIFO() {
		key := q.deduplicationID(sent, digests)
		if known, found := q.recent[key]; found && now.Before(known.until) {
			return known.receipt
		}
		q.sequence++
		answer.sequence = fmt.Sprintf("%020d", q.sequence)
		q.sweep(now)
		q.recent[key] = duplicate{answer, now.Add(deduplicationWindow)}
	}
	for range copies {
		q.keep(digests)
		if q.shelf != nil {
			q.shelf.put(sent, answer, now)
		}
	}
	return answer
}

// deduplicationID returns the message's deduplication id. Without one, SQS uses the SHA-256 of the body. Here, the MD5
// has the same effect.
func (q *queue) deduplicationID(sent *message, digests stored) string {
	if sent.MessageDeduplicationID != nil {
		return *sent.MessageDeduplicationID
	}
	return string(digests.body[:])
}

// sweep deletes expired deduplication ids, at most once in deduplicationWindow.
func (q *queue) sweep(now time.Time) {
	if now.Sub(q.swept) < deduplicationWindow {
		return
	}
	q.swept = now
	for key, known := range q.recent {
		if now.After(known.until) {
			delete(q.recent, key)
		}
	}
}

func (q *queue) keep(digests stored) {
	last := len(q.digests) - 1
	if last < 0 || len(q.digests[last]) == chunkSize {
		q.digests = append(q.digests, make([]stored, 0, chunkSize))
		last++
	}
	q.digests[last] = append(q.digests[last], digests)
}

// count returns the number of messages stored since the queue was created or purged.
func (q *queue) count() int {
	if len(q.digests) == 0 {
		return 0
	}
	last := len(q.digests) - 1
	return last*chunkSize + len(q.digests[last])
}

// describe returns the attributes that were set, and those that SQS adds.
func (q *queue) describe(region string) map[string]string {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	visible, inFlight, delayed := q.count(), 0, 0
	if q.shelf != nil {
		visible, inFlight, delayed = q.shelf.numbers(time.Now())
	}
	described := map[string]string{
		"QueueArn":                              arn(region, q.name),
		"CreatedTimestamp":                      strconv.FormatInt(q.created.Unix(), 10),
		"VisibilityTimeout":                     "30",
		"MaximumMessageSize":                    strconv.Itoa(maxMessageBytes),
		"ApproximateNumberOfMessages":           strconv.Itoa(visible),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(inFlight),
		"ApproximateNumberOfMessagesDelayed":    strconv.Itoa(delayed),
	}
	for name, value := range q.attributes {
		described[name] = value
	}
	return described
}

func arn(region, name string) string { return "arn:aws:sqs:" + region + ":" + account + ":" + name }

// messageID returns a random UUID of version 4. It needs no system call.
func messageID() string {
	var raw [16]byte
	for i := range 2 {
		for j, word := 0, rand.Uint64(); j < 8; j, word = j+1, word>>8 {
			raw[i*8+j] = byte(word)
		}
	}
	raw[6], raw[8] = raw[6]&0x0F|0x40, raw[8]&0x3F|0x80
	text := hex.EncodeToString(raw[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
