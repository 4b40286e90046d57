package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// journalVersion is the newest format of a journal that can be read, and the one that is written.
const journalVersion = 2

// kind says what a line of the journal tells.
type kind byte

const (
	intended kind = 'i' // its request is about to be sent
	done     kind = 'o' // its request was carried out
	undone   kind = 'f' // its request was certainly not carried out
)

// line is one line of the journal.
type line struct {
	kind   kind
	step   resource.Address
	action planner.Action // not of undone
	name   string         // of intended
	after  int            // of intended
	at     int64          // Unix seconds
	// Of done:
	id, identifier string
	made, protect  bool
	files          []string
	values         map[string]string
	members        []string
	// open is what is still not known of the same record once this line is
	// taken in. So each line tells all by itself, wherever the journal begins.
	open *planner.Intent
}

// head is the first line of a journal.
type head struct {
	ID        string `json:"id"`
	Lineage   string `json:"lineage"`
	Serial    uint64 `json:"serial"`
	BaseURL   string `json:"base_url"`
	Workspace string `json:"workspace"`
}

// journal is a journal as it is read.
type journal struct {
	head  head
	lines []line
}

// sum is the check sum of a line whose predecessors have the sum before.
func sum(before uint32, body []byte) uint32 {
	return crc32.Update(before, crc32.MakeTable(crc32.Castagnoli), body)
}

const (
	crcKey  = `,"crc":"`
	crcSize = len(crcKey) + 8 + len(`"}`)
)

// appendSum ends a line, which begins at start, and returns its sum.
func appendSum(b []byte, start int, before uint32) ([]byte, uint32) {
	crc := sum(before, b[start:])
	b = append(b, crcKey...)
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, hexDigits[crc>>shift&0xf])
	}
	return append(b, "\"}\n"...), crc
}

// checked takes the sum off a line without its line feed.
func checked(raw []byte, before uint32) (body []byte, crc uint32, ok bool) {
	if len(raw) <= crcSize {
		return nil, 0, false
	}
	body = raw[:len(raw)-crcSize]
	want, crc := appendSum(append([]byte(nil), body...), 0, before)
	return body, crc, bytes.Equal(want[:len(want)-1], raw)
}

func encodeHead(h head) ([]byte, uint32) {
	b := []byte(headStart)
	b = strconv.AppendInt(b, journalVersion, 10)
	b = appendString(append(b, `,"id":`...), h.ID)
	b = appendString(append(b, `,"lineage":`...), h.Lineage)
	b = strconv.AppendUint(append(b, `,"serial":`...), h.Serial, 10)
	b = appendString(append(b, `,"base_url":`...), h.BaseURL)
	b = appendString(append(b, `,"workspace":`...), h.Workspace)
	return appendSum(b, 0, 0)
}

const headStart = `{"planform_journal":`

func appendLine(b []byte, l line, before uint32) ([]byte, uint32) {
	start := len(b)
	b = appendString(append(b, '{', '"', byte(l.kind), '"', ':'), string(l.step))
	if l.kind != undone {
		b = appendString(append(b, `,"action":`...), l.action.String())
	}
	b = appendField(b, `,"name":`, l.name)
	if l.after != 0 {
		b = strconv.AppendInt(append(b, `,"after":`...), int64(l.after), 10)
	}
	b = appendField(b, `,"id":`, l.id)
	b = appendField(b, `,"identifier":`, l.identifier)
	b = appendFlag(b, `,"made":true`, l.made)
	b = appendFlag(b, `,"protect":true`, l.protect)
	b = appendList(b, `,"files":[`, l.files)
	b = appendValues(b, l.values)
	b = appendList(b, `,"members":[`, l.members)
	b = appendOpen(b, l.open)
	if l.at != 0 {
		b = appendTime(append(b, `,"at":`...), l.at)
	}
	return appendSum(b, start, before)
}

const markStart = `{"s":`

// appendMark adds a line that says how many bytes of the journal are on disk for
// certain. Its sum stands by itself, so that it can be read behind a loss.
func appendMark(b []byte, id string, size int64) []byte {
	start := len(b)
	b = strconv.AppendInt(append(b, markStart...), size, 10)
	b, _ = appendSum(b, start, sum(0, []byte(id)))
	return b
}

func parseMark(raw []byte, id string) (size int64, ok bool) {
	if !bytes.HasPrefix(raw, []byte(markStart)) {
		return 0, false
	}
	body, _, ok := checked(raw, sum(0, []byte(id)))
	if !ok {
		return 0, false
	}
	size, err := strconv.ParseInt(string(body[len(markStart):]), 10, 64)
	return size, err == nil
}

// lost reports whether a damaged line, the rest of the journal behind it, is what
// a loss of power leaves of lines that were not flushed: a block that the disk
// never got reads as zeros. Nothing was sent for any of these lines.
func (j *journal) lost(raw, rest []byte, start int64) bool {
	const block = 512
	if !bytes.Contains(raw, make([]byte, block)) {
		return false
	}
	for line := range bytes.SplitSeq(rest, []byte("\n")) {
		if flushed, ok := parseMark(line, j.head.ID); ok && flushed > start {
			return false
		}
	}
	return true
}

// parseJournal reads a journal. nil is a journal that never got as far as its first line.
func parseJournal(path string, text []byte) (*journal, error) {
	var j *journal
	crc := uint32(0)
	size := len(text)
	for n := 1; len(text) > 0; n++ {
		start := int64(size - len(text))
		raw, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			var err error
			if raw, err = tail(raw, crc); err != nil {
				return nil, damaged(path, n, err)
			}
			if n == 1 && raw == nil && !startsHead(text) {
				return nil, damaged(path, n, errors.New("this is not a journal of planform"))
			}
			if raw == nil {
				return j, nil
			}
		}
		text = rest
		if j != nil {
			if _, ok := parseMark(raw, j.head.ID); ok {
				continue
			}
		}
		body, next, ok := checked(raw, crc)
		if !ok && j != nil && j.lost(raw, rest, start) {
			return j, nil
		}
		if !ok {
			return nil, badLine(path, n, raw)
		}
		crc = next
		body = append(slices.Clip(body), '}')
		var err error
		if j == nil {
			j, err = parseHead(path, body)
		} else {
			var l line
			l, err = parseLine(body)
			j.lines = append(j.lines, l)
		}
		if _, ok := errors.AsType[*VersionError](err); ok {
			return nil, err
		}
		if err != nil {
			return nil, damaged(path, n, err)
		}
	}
	return j, nil
}

// tail judges what stands after the last line feed. It is a line that was being
// written when the run died, of which nothing counts (nil), or one that lacks
// its line feed only. Zeros are what some file systems leave of what they did
// not get to. A whole line followed by anything else did not come about by dying.
func tail(raw []byte, crc uint32) ([]byte, error) {
	i := bytes.LastIndex(raw, []byte(crcKey))
	if i < 0 || i+crcSize > len(raw) {
		return nil, nil
	}
	if _, _, ok := checked(raw[:i+crcSize], crc); !ok {
		return nil, nil
	}
	if len(bytes.Trim(raw[i+crcSize:], "\x00")) > 0 {
		return nil, errors.New("the line is damaged at its end")
	}
	return raw[:i+crcSize], nil
}

// startsHead reports whether a text is what there can be of a first line that was not written to its end.
func startsHead(text []byte) bool {
	text = bytes.TrimRight(text, "\x00")
	return bytes.HasPrefix(text, []byte(headStart)) || bytes.HasPrefix([]byte(headStart), text)
}

func badLine(path string, n int, raw []byte) error {
	var version struct {
		Version int `json:"planform_journal"`
	}
	if n == 1 && json.Unmarshal(raw, &version) == nil && version.Version > journalVersion {
		return &VersionError{Path: path, Version: version.Version, Known: journalVersion}
	}
	if n == 1 && !startsHead(raw) {
		return damaged(path, n, errors.New("this is not a journal of planform"))
	}
	return damaged(path, n, errors.New("the line is damaged: its check sum does not fit"))
}

func damaged(path string, n int, err error) error {
	return &CorruptError{
		Path: path, Line: n, Reason: err.Error(),
		Advice: "nothing is sent while it is not certain what was sent before." +
			" Put the journal back from a copy; or look on the service for what the lines from here on name," +
			" give the manifest the IDs of what is there, and move the journal away",
	}
}

func parseHead(path string, body []byte) (*journal, error) {
	var h struct {
		Version int `json:"planform_journal"`
		head
	}
	if err := json.Unmarshal(body, &h); err != nil {
		return nil, errors.New(reason(err))
	}
	switch {
	case h.Version > journalVersion:
		return nil, &VersionError{Path: path, Version: h.Version, Known: journalVersion}
	case h.Version < 1 || h.ID == "" || h.Lineage == "":
		return nil, errors.New("this is not a journal of planform")
	}
	return &journal{head: h.head}, nil
}

func parseLine(body []byte) (line, error) {
	var o struct {
		Intended   resource.Address  `json:"i"`
		Done       resource.Address  `json:"o"`
		Undone     resource.Address  `json:"f"`
		Action     string            `json:"action"`
		Name       string            `json:"name"`
		After      int               `json:"after"`
		ID         string            `json:"id"`
		Identifier string            `json:"identifier"`
		Made       bool              `json:"made"`
		Protect    bool              `json:"protect"`
		Files      []string          `json:"files"`
		Values     map[string]string `json:"values"`
		Members    []string          `json:"members"`
		Open       *openJSON         `json:"open"`
		At         string            `json:"at"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return line{}, errors.New(reason(err))
	}
	l := line{
		name: o.Name, after: o.After, id: o.ID, identifier: o.Identifier, made: o.Made, protect: o.Protect,
		files: o.Files, values: o.Values, members: o.Members,
	}
	for _, k := range []struct {
		kind kind
		step resource.Address
	}{{intended, o.Intended}, {done, o.Done}, {undone, o.Undone}} {
		if k.step == "" {
			continue
		}
		if l.step != "" {
			return line{}, errors.New("the line tells two things")
		}
		l.kind, l.step = k.kind, k.step
	}
	if l.step == "" {
		return line{}, errors.New("the line tells nothing that is known here")
	}
	var err error
	if l.kind != undone {
		if l.action, err = parseAction(o.Action); err != nil {
			return line{}, err
		}
	}
	if l.at, err = parseTime(o.At); err != nil {
		return line{}, err
	}
	if l.open, err = o.Open.intent(); err != nil {
		return line{}, fmt.Errorf("open: %w", err)
	}
	return l, nil
}
