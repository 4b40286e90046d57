package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// formatVersion is the newest format of a state file that can be read, and the format that is written.
const formatVersion = 1

// identity names the workspace of a state and counts how often the state was saved.
type identity struct {
	Lineage   string `json:"lineage"`
	Serial    uint64 `json:"serial"`
	BaseURL   string `json:"base_url"`
	Workspace string `json:"workspace"`
	// Owners lists the owners for which a run has ended; see the package comment.
	Owners []resource.Owner `json:"owners,omitempty"`
}

// Plan is the saved plan that was carried out last, completely or in part.
type Plan struct {
	Hash  string    `json:"hash"`
	Since time.Time `json:"since"` // when its first run began
}

// content is a state in memory.
type content struct {
	identity
	Journal string // ID of the last journal that was replayed into it
	Plan    *Plan  // nil = the last apply had no saved plan
	records planner.Prior
}

// encode writes the state in its only form, in small writes: w should buffer.
func (cn *content) encode(w io.Writer) error {
	text, err := marshal(struct {
		FormatVersion int `json:"format_version"`
		identity
		Journal string `json:"journal,omitempty"`
		Plan    *Plan  `json:"plan,omitempty"`
	}{formatVersion, cn.identity, cn.Journal, cn.Plan})
	if err != nil {
		return err
	}
	text = append(bytes.TrimSuffix(text, []byte("}")), `,"objects":[`...)
	for i, address := range slices.Sorted(maps.Keys(cn.records)) {
		if i > 0 {
			text = append(text, ',')
		}
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
		if text, err = marshal(cn.records[address]); err != nil {
			return err
		}
	}
	_, err = w.Write(append(text, "\n]}\n"...))
	return err
}

// normalRecord returns a record in the form in which it would be read back.
func normalRecord(r planner.Record) planner.Record {
	if len(r.Values) == 0 {
		r.Values = nil
	}
	r.Members, r.Sources = normalList(r.Members), normalList(r.Sources)
	// A member who was found and has left is not a member any more.
	r.Found = normalList(slices.DeleteFunc(slices.Clone(r.Found), func(id string) bool { return !slices.Contains(r.Members, id) }))
	return r
}

// normalList returns a list sorted and without duplicates.
func normalList(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// normalTime returns a time in its stored form: in UTC and whole seconds. A time before 1970 or after 9999 is an error.
func normalTime(t time.Time) (time.Time, error) {
	if t.IsZero() {
		return t, nil
	}
	if t.Unix() <= 0 || t.UTC().Year() > 9999 {
		return t, timeError(t.Format(time.RFC3339))
	}
	return time.Unix(t.Unix(), 0).UTC(), nil
}

func timeError(text string) error {
	return fmt.Errorf("%s is not a time such as 2026-11-20T20:36:10Z", quoted(text))
}

// readRecord brings a record that was read from a file into its normal form. It returns an error if the record has an invalid time.
func readRecord(r planner.Record) (planner.Record, error) {
	var err error
	if r.AppliedAt, err = normalTime(r.AppliedAt); err == nil {
		r.Late, err = normalTime(r.Late)
	}
	if err == nil && r.PendingIntent != nil {
		r.PendingIntent.At, err = normalTime(r.PendingIntent.At)
	}
	return normalRecord(r), err
}

// decode reads a state. It accepts any JSON of the right shape, even if a formatter rewrote it. Unknown
// keys are an error, because saving would lose them.
func decode(path string, text []byte) (*content, error) {
	d := decoder{text: text, json: json.NewDecoder(bytes.NewReader(text))}
	d.json.DisallowUnknownFields()
	c, err := d.state()
	if err == nil {
		return c, nil
	}
	var version struct {
		FormatVersion int `json:"format_version"`
	}
	if json.Unmarshal(text, &version) == nil && version.FormatVersion > formatVersion {
		return nil, &VersionError{Path: path, Version: version.FormatVersion, Known: formatVersion}
	}
	return nil, &CorruptError{
		Path: path, Line: d.line(err), Reason: "this is not a state file of planform: " + reason(err),
		Advice: "restore an older one, such as " + path + ".backup; or move it away: objects are then found by IDs, marks and names",
	}
}

type decoder struct {
	text   []byte
	json   *json.Decoder
	offset int64 // offset of the object being read
}

func (dc *decoder) state() (*content, error) {
	c := &content{records: planner.Prior{}}
	var version int
	known := map[string]any{
		"format_version": &version, "lineage": &c.Lineage, "serial": &c.Serial, "base_url": &c.BaseURL, "workspace": &c.Workspace, "owners": &c.Owners,
		"journal": &c.Journal, "plan": &c.Plan, "objects": nil,
	}
	if err := dc.delim('{'); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for dc.json.More() {
		token, err := dc.json.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		field, ok := known[key]
		if !ok {
			return nil, fmt.Errorf("%s is not known here", quoted(key))
		}
		if seen[key] {
			return nil, fmt.Errorf("%s is there twice", quoted(key))
		}
		seen[key] = true
		dc.offset = dc.json.InputOffset()
		if key == "objects" {
			err = dc.objects(c)
		} else {
			err = dc.json.Decode(field)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := dc.delim('}'); err != nil {
		return nil, err
	}
	dc.offset = dc.json.InputOffset()
	if _, err := dc.json.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	for _, key := range []string{"format_version", "lineage", "serial", "base_url", "workspace", "objects"} {
		if !seen[key] {
			return nil, fmt.Errorf("it has no %s", key)
		}
	}
	if version != formatVersion {
		return nil, fmt.Errorf("there is no format version %d", version)
	}
	if c.Lineage == "" {
		return nil, errors.New("its lineage is empty")
	}
	return c, nil
}

func (dc *decoder) objects(c *content) error {
	if err := dc.delim('['); err != nil {
		return err
	}
	for dc.json.More() {
		dc.offset = dc.json.InputOffset()
		var r planner.Record
		if err := dc.json.Decode(&r); err != nil {
			return err
		}
		if r.Address == "" {
			return errors.New("an object has no address")
		}
		if _, twice := c.records[r.Address]; twice {
			return fmt.Errorf("%s is there twice", quoted(string(r.Address)))
		}
		var err error
		if c.records[r.Address], err = readRecord(r); err != nil {
			return err
		}
	}
	return dc.delim(']')
}

func (dc *decoder) delim(want json.Delim) error {
	dc.offset = dc.json.InputOffset()
	token, err := dc.json.Token()
	if err != nil {
		return err
	}
	if token != want {
		return fmt.Errorf("%s was expected", want)
	}
	return nil
}

// line returns the line of an error: the exact line of a syntax error, else the first line of the object.
func (dc *decoder) line(err error) int {
	at := dc.offset
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		// The offset of a stream decoder is relative to the last read.
		if s, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(dc.text, &struct{}{})); ok {
			at = s.Offset - 1
		}
	} else if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		at = int64(len(dc.text))
	}
	at = min(max(at, 0), int64(len(dc.text)))
	rest := dc.text[at:]
	at += int64(len(rest) - len(bytes.TrimLeft(rest, ", \t\r\n"))) // to the beginning of the object
	if at == int64(len(dc.text)) {
		at = int64(len(bytes.TrimRight(dc.text, " \t\r\n")))
	}
	return bytes.Count(dc.text[:at], []byte("\n")) + 1
}

// reason says in plain words what encoding/json rejects.
func reason(err error) string {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s cannot be a %s", t.Field, t.Value)
	}
	if t, ok := errors.AsType[*time.ParseError](err); ok {
		return timeError(t.Value).Error()
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "it ends too early"
	}
	return err.Error()
}
