package apiclient

import "time"

// EventType is the type of an [Event].
type EventType int

// The events.
const (
	// Waiting: requests wait for Wait, because the quota is used up or the service asked for a pause. There is one event for each pause,
	// not for each worker.
	Waiting EventType = iota
	// Retrying: an attempt failed, and the next one starts after Wait.
	Retrying
	// Answered: a read was answered.
	Answered
)

// Event reports progress for people. Events come from any goroutine.
type Event struct {
	Type    EventType
	Wait    time.Duration
	Method  string // of a retried request
	Path    string // of a retried request
	Attempt int    // the attempt that failed, from 1
	Err     error  // the reason for the retry
}
