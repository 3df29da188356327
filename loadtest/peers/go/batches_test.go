package main

import (
	"context"
	"testing"
)

// A call has no message whose sender has stopped waiting, and the first message that does not fit is next.
func TestTake(t *testing.T) {
	late, cancel := context.WithCancel(t.Context())
	cancel()
	queue := make(chan waiting, 10)
	queue <- waiting{ctx: late, size: 1}
	queue <- waiting{ctx: t.Context(), size: maxBytes - 1}
	queue <- waiting{ctx: late, size: 2}
	queue <- waiting{ctx: t.Context(), size: 3}
	batch, next := take(queue, nil)
	if len(batch) != 1 || batch[0].size != maxBytes-1 || next == nil || next.size != 3 {
		t.Fatalf("%v %v", batch, next)
	}
	batch, next = take(queue, next)
	if len(batch) != 1 || batch[0].size != 3 || next != nil {
		t.Fatalf("%v %v", batch, next)
	}
}
