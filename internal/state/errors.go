package state

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrLocked is the error that every [LockedError] matches.
var ErrLocked = errors.New("the state is locked")

// LockedError says that another process uses the state.
type LockedError struct {
	Path   string        // of the state file
	Holder Holder        // as far as known
	Waited time.Duration // time spent waiting for the lock
	Reason string        // why the lock cannot be taken, if not because it is held
}

// Holder is the process that holds a lock. Any field may be unknown.
type Holder struct {
	User    string    `json:"user,omitempty"`
	Host    string    `json:"host,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Command string    `json:"command,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// String describes the holder for people.
func (h Holder) String() string {
	var b strings.Builder
	b.WriteString("an unknown holder")
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
		text += fmt.Sprintf(" and was not released within %s", e.Waited)
	}
	return text
}

// Hint returns the next step.
func (e *LockedError) Hint() string {
	hint := "try again when that run has ended"
	switch {
	case e.Reason != "" && !IsShared(e.Path):
		return ""
	case e.Waited == 0:
		hint += ", or wait for it with --lock-timeout 5m"
	}
	if IsShared(e.Path) {
		hint += "; if that run is dead, remove its lock with planform state unlock"
	}
	return hint
}

// Is makes every LockedError an [ErrLocked].
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// MismatchError says that a file belongs to another server, workspace or state.
type MismatchError struct {
	Path       string
	Owner      string // the differing property, such as "the workspace"
	Have, Want string // its value in the file, and the expected one
	Advice     string // the next step
}

func (ms *MismatchError) Error() string {
	return fmt.Sprintf("%s belongs to %s %s, not to %s; it was left as it is", ms.Path, ms.Owner, quoted(ms.Have), quoted(ms.Want))
}

// Hint returns the next step.
func (ms *MismatchError) Hint() string { return ms.Advice }

// CorruptError says that a file is damaged, or that planform did not write it.
type CorruptError struct {
	Path   string
	Line   int // from 1; 0 = not known
	Reason string
	Advice string // the next step
}

func (ce *CorruptError) Error() string {
	at := ce.Path
	if ce.Line > 0 {
		at += ":" + strconv.Itoa(ce.Line)
	}
	return fmt.Sprintf("%s: %s; it was left as it is", at, ce.Reason)
}

// Hint returns the next step.
func (ce *CorruptError) Hint() string { return ce.Advice }

// VersionError says that a newer planform wrote a file.
type VersionError struct {
	Path    string
	Version int
	Known   int // the newest version that this planform reads
}

func (ve *VersionError) Error() string {
	return fmt.Sprintf("%s has format version %d, but this planform reads up to %d; it was left as it is", ve.Path, ve.Version, ve.Known)
}

// Hint returns the next step.
func (ve *VersionError) Hint() string { return "use a newer planform" }

// quoted quotes text of a file, short and without control characters for a terminal.
func quoted(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strconv.QuoteToGraphic(text)
}
