package state

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrLocked is what every [LockedError] is.
var ErrLocked = errors.New("the state is locked")

// LockedError tells that somebody else works with the state.
type LockedError struct {
	Path   string        // of the state file
	Holder Holder        // who holds the lock, as far as that is known
	Waited time.Duration // how long it was waited for
	Reason string        // why the lock cannot be had, if not because it is held
}

// Holder is who holds a lock. All of it may be unknown.
type Holder struct {
	User    string    `json:"user,omitempty"`
	Host    string    `json:"host,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Command string    `json:"command,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// String names the holder for people.
func (h Holder) String() string {
	var b strings.Builder
	b.WriteString("somebody who left no name")
	if h.User != "" {
		b.Reset()
		b.WriteString(h.User)
	}
	if h.Host != "" {
		b.WriteString(" on " + h.Host)
	}
	var in []string
	if h.Command != "" {
		in = append(in, strconv.Quote(h.Command))
	}
	if h.PID != 0 {
		in = append(in, "process "+strconv.Itoa(h.PID))
	}
	if len(in) > 0 {
		b.WriteString(" (" + strings.Join(in, ", ") + ")")
	}
	if !h.Since.IsZero() {
		b.WriteString(" since " + h.Since.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	return b.String()
}

func (e *LockedError) Error() string {
	if e.Reason != "" {
		text := fmt.Sprintf("the state %s cannot be locked: %s", e.Path, e.Reason)
		if e.Holder != (Holder{}) {
			text += "; the last to hold it was " + e.Holder.String()
		}
		return text
	}
	text := fmt.Sprintf("the state %s is locked by %s", e.Path, e.Holder)
	if e.Waited > 0 {
		return text + fmt.Sprintf(" and was not released within %s; try again when that run has ended", e.Waited)
	}
	return text + "; try again when that run has ended, or wait for it with --lock-timeout 5m"
}

// Is makes every LockedError an [ErrLocked].
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// MismatchError tells that a file belongs to something else than what was asked for.
type MismatchError struct {
	Path       string
	What       string // what differs, such as "workspace"
	Have, Want string // what the file says, and what was asked for
	Advice     string // what to do
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s belongs to %s %s, not to %s; it was left as it is: %s", e.Path, e.What, shown(e.Have), shown(e.Want), e.Advice)
}

// CorruptError tells that a file is not what planform wrote.
type CorruptError struct {
	Path   string
	Line   int // from 1; 0 = not known
	Reason string
	Advice string // what to do
}

func (e *CorruptError) Error() string {
	at := e.Path
	if e.Line > 0 {
		at += ":" + strconv.Itoa(e.Line)
	}
	return fmt.Sprintf("%s: %s; it was left as it is: %s", at, e.Reason, e.Advice)
}

// VersionError tells that a file was written by a newer planform.
type VersionError struct {
	Path    string
	Version int
	Known   int // the newest that this planform reads
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has format version %d and this planform reads up to %d; it was left as it is: use the newer planform that wrote it",
		e.Path, e.Version, e.Known)
}

// shown quotes what came from a file, so that it cannot play tricks on a terminal or fill it.
func shown(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strconv.QuoteToGraphic(text)
}
