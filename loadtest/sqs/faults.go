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

// settings are the faults that calls for sending get. The numbers of type float64 are probabilities. The same seed and
// the same order of calls give the same faults.
type settings struct {
	Seed      uint64  `json:"seed"`
	Lose      float64 `json:"lose"`       // for each message: acknowledge it, but do not store it
	Double    float64 `json:"double"`     // for each message: store it twice
	FailEntry float64 `json:"fail_entry"` // for each entry of a batch: report it as Failed in a 200
	DelayMS   int     `json:"delay_ms"`   // milliseconds before each call is handled
	Throttle  float64 `json:"throttle"`   // RequestThrottled, a 400
	Error500  float64 `json:"error_500"`
	Reset     float64 `json:"reset"` // store the messages, then reset the connection, so that the response is lost
	Hang      bool    `json:"hang"`  // do not respond until this is false again
}

type faults struct {
	mutex    sync.Mutex
	settings settings
	random   *rand.Rand
	changed  chan struct{} // closed by the next change of the settings, for calls that hang
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

// happens draws a random number once, and returns true with the probability that `of` reads from the settings.
func (f *faults) happens(of func(*settings) float64) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	probability := of(&f.settings)
	return probability > 0 && f.random.Float64() < probability
}

// copies returns how many copies of a message to store: 0, 1 or 2.
func (f *faults) copies() int {
	if f.happens(func(s *settings) float64 { return s.Lose }) {
		return 0
	}
	if f.happens(func(s *settings) float64 { return s.Double }) {
		return 2
	}
	return 1
}

// planted are the faults of a whole call. gone: the sender has closed the connection.
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

// reset closes the connection with RST, as a middlebox does. With a linger time of 0, close discards unsent data.
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
