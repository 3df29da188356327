package main

import (
	"crypto/tls"
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// settings are the faults of sending. Lose to Reset are probabilities, except the delay. The same seed and the same
// order of calls plant the same faults.
type settings struct {
	Seed      uint64  `json:"seed"`
	Lose      float64 `json:"lose"`       // acknowledged, not stored: for each message
	Double    float64 `json:"double"`     // stored twice: for each message
	FailEntry float64 `json:"fail_entry"` // a Failed entry in a 200
	DelayMS   int     `json:"delay_ms"`   // before each call is looked at
	Throttle  float64 `json:"throttle"`   // RequestThrottled, a 400
	Error500  float64 `json:"error_500"`
	Reset     float64 `json:"reset"` // stored, and the connection is reset: the answer is lost
	Hang      bool    `json:"hang"`  // no answer until this is taken back
}

type faults struct {
	mutex    sync.Mutex
	settings settings
	random   *rand.Rand
	changed  chan struct{} // closed by the next change, for those that hang
}

func newFaults() *faults {
	made := &faults{}
	made.set(settings{})
	return made
}

func (f *faults) set(wanted settings) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.changed != nil {
		close(f.changed)
	}
	f.settings, f.changed = wanted, make(chan struct{})
	f.random = rand.New(rand.NewPCG(wanted.Seed, wanted.Seed))
}

func (f *faults) get() (settings, <-chan struct{}) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.settings, f.changed
}

// happens draws once for the probability that `of` reads from the settings.
func (f *faults) happens(of func(*settings) float64) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	probability := of(&f.settings)
	return probability > 0 && f.random.Float64() < probability
}

// copies is how many of a message to store.
func (f *faults) copies() int {
	if f.happens(func(s *settings) float64 { return s.Lose }) {
		return 0
	}
	if f.happens(func(s *settings) float64 { return s.Double }) {
		return 2
	}
	return 1
}

// planted is what happens to a whole call; `gone`: its sender did not wait.
type planted struct{ gone, throttle, error500, reset bool }

func (f *faults) draw(done <-chan struct{}) planted {
	set, changed := f.get()
	for set.Hang {
		select {
		case <-done:
			return planted{gone: true}
		case <-changed:
			set, changed = f.get()
		}
	}
	if set.DelayMS > 0 {
		select {
		case <-done:
			return planted{gone: true}
		case <-time.After(time.Duration(set.DelayMS) * time.Millisecond):
		}
	}
	return planted{
		throttle: f.happens(func(s *settings) float64 { return s.Throttle }),
		error500: f.happens(func(s *settings) float64 { return s.Error500 }),
		reset:    f.happens(func(s *settings) float64 { return s.Reset }),
	}
}

// reset ends the connection with RST, as a middlebox does: without lingering, close throws away what is unsent.
func reset(writer http.ResponseWriter) {
	connection, _, err := writer.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if secure, ok := connection.(*tls.Conn); ok {
		connection = secure.NetConn()
	}
	if plain, ok := connection.(*net.TCPConn); ok {
		_ = plain.SetLinger(0)
	}
	_ = connection.Close()
}

func (s *service) showFaults(writer http.ResponseWriter, _ *http.Request) {
	set, _ := s.faults.get()
	body, _ := json.Marshal(set)
	writeJSON(writer, http.StatusOK, body)
}

func (s *service) setFaults(writer http.ResponseWriter, request *http.Request) {
	var wanted settings
	decoder := json.NewDecoder(request.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&wanted); err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	s.faults.set(wanted)
	s.showFaults(writer, request)
}
