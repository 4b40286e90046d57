package state

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// journalVersion is the newest format of a journal that can be read, and the format that is written.
const journalVersion = 2

// line is one line of the journal. It names one step: in Intent before the request is sent, in Commit after
// success, in Abort if the request certainly had no effect.
type line struct {
	Intent resource.Address `json:"i,omitempty"`
	Commit resource.Address `json:"o,omitempty"`
	Abort  resource.Address `json:"f,omitempty"`
	Action *planner.Action  `json:"action,omitempty"` // not of an abort
	Name   string           `json:"name,omitempty"`   // of an intent
	After  int              `json:"after,omitempty"`  // of an intent
	Batch  bool             `json:"batch,omitempty"`  // of an intent
	Fields []string         `json:"fields,omitempty"` // of an intent
	Sent   string           `json:"sent,omitempty"`   // of an intent
	// Record is the outcome of a commit. Its PendingIntent is the intent that the record still has after this
	// line, so that a line can be applied without the lines before it.
	planner.Record
	At time.Time `json:"at,omitzero"`
}

// intent returns the intent that the line announces.
func (ln *line) intent() planner.Intent {
	return planner.Intent{Action: *ln.Action, Name: ln.Name, After: ln.After, At: ln.At, Batch: ln.Batch, Fields: ln.Fields, Sent: ln.Sent}
}

func (ln *line) step() resource.Address { return cmp.Or(ln.Intent, ln.Commit, ln.Abort) }

// header is the first line of a journal.
type header struct {
	Version int    `json:"planform_journal"`
	ID      string `json:"id"`
	identity
}

// journal is a journal that was read.
type journal struct {
	header header
	lines  []line
}

// sum returns the checksum of a line that follows lines with the checksum before.
func sum(before uint32, body []byte) uint32 {
	return crc32.Update(before, crc32.MakeTable(crc32.Castagnoli), body)
}

const (
	crcKey  = `,"crc":"`
	crcSize = len(crcKey) + 8 + len(`"}`)
)

// appendSum adds the checksum to the line that begins at start, and returns the checksum.
func appendSum(b []byte, start int, before uint32) ([]byte, uint32) {
	crc := sum(before, b[start:])
	return fmt.Appendf(b, crcKey+"%08x\"}\n", crc), crc
}

// appendLine appends a line or the header, and returns its checksum.
func appendLine(b []byte, l any, before uint32) ([]byte, uint32, error) {
	text, err := diag.SafeJSON(l, "")
	if err != nil {
		return b, before, err
	}
	start := len(b)
	b, before = appendSum(append(b, bytes.TrimSuffix(text, []byte("}"))...), start, before)
	return b, before, nil
}

// verifySum verifies and removes the checksum of a line, which has no line feed.
func verifySum(raw []byte, before uint32) (body []byte, crc uint32, ok bool) {
	if len(raw) <= crcSize {
		return nil, 0, false
	}
	body = raw[:len(raw)-crcSize]
	want, crc := appendSum(append([]byte(nil), body...), 0, before)
	return body, crc, bytes.Equal(want[:len(want)-1], raw)
}

const headerStart = `{"planform_journal":`

const markStart = `{"s":`

// appendMark adds a line with the number of bytes that are certainly on disk. The checksum of a mark does
// not depend on other lines, so that a mark can be read after a damaged line.
func appendMark(b []byte, id string, size int64) []byte {
	start := len(b)
	b, _ = appendSum(fmt.Appendf(b, markStart+"%d", size), start, sum(0, []byte(id)))
	return b
}

func parseMark(raw []byte, id string) (size int64, ok bool) {
	if !bytes.HasPrefix(raw, []byte(markStart)) {
		return 0, false
	}
	body, _, ok := verifySum(raw, sum(0, []byte(id)))
	if !ok {
		return 0, false
	}
	size, err := strconv.ParseInt(string(body[len(markStart):]), 10, 64)
	return size, err == nil
}

// isUnflushed reports whether a damaged line comes from a loss of power before it was flushed: blocks that never reached the disk read as
// zeros. rest is the journal after the line. Nothing was sent for any of these lines.
func (j *journal) isUnflushed(raw, rest []byte, start int64) bool {
	const block = 512
	if !bytes.Contains(raw, make([]byte, block)) {
		return false
	}
	for line := range bytes.SplitSeq(rest, []byte("\n")) {
		if flushed, ok := parseMark(line, j.header.ID); ok && flushed > start {
			return false
		}
	}
	return true
}

// parseJournal reads a journal; nil means that its first line was never complete.
func parseJournal(path string, text []byte) (*journal, error) {
	var j *journal
	crc := uint32(0)
	size := len(text)
	for n := 1; len(text) > 0; n++ {
		start := int64(size - len(text))
		raw, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			var err error
			if raw, err = lastLine(raw, crc); err != nil {
				return nil, damageError(path, n, err)
			}
			if n == 1 && raw == nil && !startsHeader(text) {
				return nil, damageError(path, n, errors.New("this is not a journal of planform"))
			}
			if raw == nil {
				return j, nil
			}
		}
		text = rest
		if j != nil {
			if _, ok := parseMark(raw, j.header.ID); ok {
				continue
			}
		}
		body, next, ok := verifySum(raw, crc)
		if !ok && j != nil && j.isUnflushed(raw, rest, start) {
			return j, nil
		}
		if !ok {
			return nil, lineError(path, n, raw)
		}
		crc = next
		body = append(slices.Clip(body), '}')
		var err error
		if j == nil {
			j, err = parseHeader(path, body)
		} else {
			var l line
			l, err = parseLine(body)
			j.lines = append(j.lines, l)
		}
		if _, ok := errors.AsType[*VersionError](err); ok {
			return nil, err
		}
		if err != nil {
			return nil, damageError(path, n, err)
		}
	}
	return j, nil
}

// lastLine returns the text after the last line feed if it is a whole line, and nil if the run died while
// writing it. Trailing zeros are ignored, because some file systems leave them after a crash. A whole line
// followed by any other text cannot come from a crash, and is an error.
func lastLine(raw []byte, crc uint32) ([]byte, error) {
	i := bytes.LastIndex(raw, []byte(crcKey))
	if i < 0 || i+crcSize > len(raw) {
		return nil, nil
	}
	if _, _, ok := verifySum(raw[:i+crcSize], crc); !ok {
		return nil, nil
	}
	if len(bytes.Trim(raw[i+crcSize:], "\x00")) > 0 {
		return nil, errors.New("the line is damaged at its end")
	}
	return raw[:i+crcSize], nil
}

// startsHeader reports whether a text can be the beginning of a header line.
func startsHeader(text []byte) bool {
	text = bytes.TrimRight(text, "\x00")
	return bytes.HasPrefix(text, []byte(headerStart)) || bytes.HasPrefix([]byte(headerStart), text)
}

func lineError(path string, n int, raw []byte) error {
	var version struct {
		Version int `json:"planform_journal"`
	}
	if n == 1 && json.Unmarshal(raw, &version) == nil && version.Version > journalVersion {
		return &VersionError{Path: path, Version: version.Version, Known: journalVersion}
	}
	if n == 1 && !startsHeader(raw) {
		return damageError(path, n, errors.New("this is not a journal of planform"))
	}
	return damageError(path, n, errors.New("the line is damaged: its checksum is wrong"))
}

func damageError(path string, n int, err error) error {
	return &CorruptError{
		Path: path, Line: n, Reason: err.Error(),
		Advice: "restore it; or give objects of its remaining lines their IDs in the manifest, and move the journal away",
	}
}

func parseHeader(path string, body []byte) (*journal, error) {
	var h header
	if err := json.Unmarshal(body, &h); err != nil {
		return nil, err
	}
	switch {
	case h.Version > journalVersion:
		return nil, &VersionError{Path: path, Version: h.Version, Known: journalVersion}
	case h.Version < 1 || h.ID == "" || h.Lineage == "":
		return nil, errors.New("this is not a journal of planform")
	}
	return &journal{header: h}, nil
}

func parseLine(body []byte) (line, error) {
	var l line
	if _, err := diag.ReadJSON(body, &l); err != nil {
		return l, err
	}
	switch steps := slices.DeleteFunc([]resource.Address{l.Intent, l.Commit, l.Abort}, func(a resource.Address) bool { return a == "" }); {
	case len(steps) > 1:
		return l, errors.New("the line has two steps")
	case len(steps) == 0:
		return l, errors.New("the line names no step of this journal")
	case l.Action == nil && l.Abort == "":
		return l, errors.New("the line has no action")
	}
	var err error
	if l.At, err = normalTime(l.At); err == nil {
		l.Record, err = readRecord(l.Record)
	}
	return l, err
}
