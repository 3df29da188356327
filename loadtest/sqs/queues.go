package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	account = "000000000000"
	region  = "us-east-1" // for calls without a signature
)

// supported are the queue attributes that the stand-in implements, or that have no effect within a test.
var supported = []string{
	"FifoQueue", "ContentBasedDeduplication", "VisibilityTimeout", "ReceiveMessageWaitTimeSeconds", "RedrivePolicy",
	"MessageRetentionPeriod", "SqsManagedSseEnabled",
}

// queues are the existing queues, by name.
type queues struct {
	bodies bool
	mutex  sync.RWMutex
	byName map[string]*queue
}

func newQueues(bodies bool) *queues { return &queues{bodies: bodies, byName: map[string]*queue{}} }

// find returns a queue by name, URL or ARN. URLs and ARNs end with the name.
func (q *queues) find(address string) (*queue, *refusal) {
	name := address[strings.LastIndexAny(address, "/:")+1:]
	q.mutex.RLock()
	defer q.mutex.RUnlock()
	if found, exists := q.byName[name]; exists {
		return found, nil
	}
	return nil, noSuchQueue()
}

// create makes a queue. It does nothing if a queue with the same name and the same attributes exists.
func (q *queues) create(name string, attributes map[string]string) *refusal {
	fifo := attributes["FifoQueue"] == "true"
	if !queueName.MatchString(name) || fifo != strings.HasSuffix(name, ".fifo") {
		return invalidParameter("Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length; " +
			"the name of a FIFO queue ends in .fifo")
	}
	for name := range attributes {
		if !slices.Contains(supported, name) {
			return unsupported("This stand-in does not support the attribute " + name)
		}
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if known, exists := q.byName[name]; exists {
		if !maps.Equal(known.attributes, attributes) {
			return &refusal{400, "QueueNameExists", "QueueAlreadyExists",
				"A queue already exists with the same name and a different value for attributes"}
		}
		return nil
	}
	made := &queue{name: name, attributes: attributes, created: time.Now(), recent: map[string]duplicate{}}
	if q.bodies {
		made.shelf = newShelf()
	}
	q.byName[name] = made
	return nil
}

// maxReceives is the highest maxReceiveCount of SQS, because the worker itself moves messages that can never succeed.
const maxReceives = 1000

// createPair makes a dead-letter queue, and a queue whose redrive policy names this dead-letter queue.
func (q *queues) createPair(name string) *refusal {
	attributes, dead := map[string]string{}, name+"-dead-letters"
	if base, fifo := strings.CutSuffix(name, ".fifo"); fifo {
		attributes["FifoQueue"], dead = "true", base+"-dead-letters.fifo"
	}
	if refused := q.create(dead, maps.Clone(attributes)); refused != nil {
		return refused
	}
	attributes["RedrivePolicy"] = fmt.Sprintf(`{"deadLetterTargetArn": %q, "maxReceiveCount": %d}`, arn(region, dead), maxReceives)
	return q.create(name, attributes)
}

func (q *queues) remove(found *queue) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	delete(q.byName, found.name)
}
