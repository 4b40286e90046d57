package apiclient

import "time"

// EventType says what an [Event] tells.
type EventType int

// The events.
const (
	// Waiting: requests are held back for Wait, because the service's quota is
	// used up or it asked for a pause. Told once a pause, not once a worker.
	Waiting EventType = iota
	// Retrying: an attempt failed, and the next one starts after Wait.
	Retrying
	// Answered: a read was answered.
	Answered
)

// Event is something that a person who watches may want to know. Events come
// from any goroutine.
type Event struct {
	Type    EventType
	Wait    time.Duration
	Method  string // of a retried request
	Path    string // of a retried request
	Attempt int    // the attempt that failed, from 1
	Err     error  // why it is tried again
}
