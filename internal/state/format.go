package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// formatVersion is the newest format of a state file that can be read, and the one that is written.
const formatVersion = 1

// entry is one line of the state file.
type entry struct {
	planner.Record
	applied int64 // when values or members were last applied, in Unix seconds; 0 = not known
}

// content is a state in memory.
type content struct {
	Lineage   string
	Serial    uint64
	BaseURL   string
	Workspace string
	Journal   string // the last journal that was folded into it
	entries   map[resource.Address]entry
}

// encode writes the state in its one form. The caller buffers.
func (c *content) encode(w io.Writer) error {
	b := append([]byte(nil), `{"format_version":`...)
	b = strconv.AppendInt(b, formatVersion, 10)
	b = appendString(append(b, `,"lineage":`...), c.Lineage)
	b = strconv.AppendUint(append(b, `,"serial":`...), c.Serial, 10)
	b = appendString(append(b, `,"base_url":`...), c.BaseURL)
	b = appendString(append(b, `,"workspace":`...), c.Workspace)
	b = appendField(b, `,"journal":`, c.Journal)
	b = append(b, `,"objects":[`...)
	for i, address := range slices.Sorted(maps.Keys(c.entries)) {
		if i > 0 {
			b = append(b, ',')
		}
		e := c.entries[address]
		b = appendEntry(append(b, '\n'), &e)
		if _, err := w.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	_, err := w.Write(append(b, "\n]}\n"...))
	return err
}

func appendEntry(b []byte, e *entry) []byte {
	b = appendString(append(b, `{"address":`...), string(e.Address))
	b = appendField(b, `,"id":`, e.ID)
	b = appendField(b, `,"identifier":`, e.Identifier)
	b = appendFlag(b, `,"made":true`, e.CreatedByUs)
	b = appendFlag(b, `,"protect":true`, e.Protect)
	b = appendList(b, `,"files":[`, e.Sources)
	b = appendValues(b, e.Values)
	b = appendList(b, `,"members":[`, e.Members)
	b = appendList(b, `,"found":[`, e.Found)
	if e.applied != 0 {
		b = appendTime(append(b, `,"applied_at":`...), e.applied)
	}
	b = appendOpen(b, e.PendingIntent)
	return append(b, '}')
}

// appendField appends a text that may be left out.
func appendField(b []byte, key, text string) []byte {
	if text == "" {
		return b
	}
	return appendString(append(b, key...), text)
}

// appendFlag appends what is left out unless it is so.
func appendFlag(b []byte, text string, set bool) []byte {
	if !set {
		return b
	}
	return append(b, text...)
}

func appendValues(b []byte, values map[string]string) []byte {
	if len(values) == 0 {
		return b
	}
	b = append(b, `,"values":{`...)
	var few [16]string
	names := few[:0]
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, name)
		b = appendString(append(b, ':'), values[name])
	}
	return append(b, '}')
}

// appendList appends texts that may be none.
func appendList(b []byte, key string, texts []string) []byte {
	if len(texts) == 0 {
		return b
	}
	b = append(b, key...)
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, text)
	}
	return append(b, ']')
}

func appendOpen(b []byte, open *planner.Intent) []byte {
	if open == nil {
		return b
	}
	b = appendString(append(b, `,"open":{"action":`...), open.Action.String())
	b = appendField(b, `,"name":`, open.Name)
	if open.After != 0 {
		b = strconv.AppendInt(append(b, `,"after":`...), int64(open.After), 10)
	}
	if open.At != 0 {
		b = appendTime(append(b, `,"at":`...), open.At)
	}
	return append(b, '}')
}

func appendTime(b []byte, unix int64) []byte {
	b = append(b, '"')
	b = time.Unix(unix, 0).UTC().AppendFormat(b, time.RFC3339)
	return append(b, '"')
}

// objectJSON is a line as it is read.
type objectJSON struct {
	Address    resource.Address  `json:"address"`
	ID         string            `json:"id"`
	Identifier string            `json:"identifier"`
	Made       bool              `json:"made"`
	Protect    bool              `json:"protect"`
	Files      []string          `json:"files"`
	Values     map[string]string `json:"values"`
	Members    []string          `json:"members"`
	Found      []string          `json:"found"`
	AppliedAt  string            `json:"applied_at"`
	Open       *openJSON         `json:"open"`
}

type openJSON struct {
	Action string `json:"action"`
	Name   string `json:"name"`
	After  int    `json:"after"`
	At     string `json:"at"`
}

func (o *openJSON) intent() (*planner.Intent, error) {
	if o == nil {
		return nil, nil //nolint:nilnil // nothing is open
	}
	action, err := parseAction(o.Action)
	if err != nil {
		return nil, err
	}
	at, err := parseTime(o.At)
	if err != nil {
		return nil, err
	}
	return &planner.Intent{Action: action, Name: o.Name, After: o.After, At: at}, nil
}

func (o *objectJSON) entry() (entry, error) {
	var e entry
	if o.Address == "" {
		return e, errors.New("an object has no address")
	}
	applied, err := parseTime(o.AppliedAt)
	if err != nil {
		return e, err
	}
	open, err := o.Open.intent()
	if err != nil {
		return e, err
	}
	e = entry{applied: applied, Record: planner.Record{
		Address: o.Address, ID: o.ID, Identifier: o.Identifier, CreatedByUs: o.Made, Protect: o.Protect,
		Sources: o.Files, Values: o.Values, Members: o.Members, Found: o.Found, PendingIntent: open,
	}}
	e.Record = normalRecord(e.Record)
	return e, nil
}

// normalRecord is a record as it would be read back.
func normalRecord(r planner.Record) planner.Record {
	if len(r.Values) == 0 {
		r.Values = nil
	}
	r.Members, r.Sources = normalList(r.Members), normalList(r.Sources)
	if len(r.Found) > 0 { // a member that left is not one that was found
		r.Found = normalList(slices.DeleteFunc(slices.Clone(r.Found), func(id string) bool { return !slices.Contains(r.Members, id) }))
	}
	return r
}

// normalList is a list sorted, each text once.
func normalList(list []string) []string {
	switch {
	case len(list) == 0:
		return nil
	case len(list) == 1, slices.IsSorted(list) && len(slices.Compact(slices.Clone(list))) == len(list):
		return list
	default:
		return slices.Compact(slices.Sorted(slices.Values(list)))
	}
}

func parseAction(text string) (planner.Action, error) {
	for a := range planner.NotPossible {
		if a.String() == text {
			return a, nil
		}
	}
	return 0, fmt.Errorf("there is no action %s", shown(text))
}

func parseTime(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Unix() <= 0 || t.UTC().Year() > 9999 {
		return 0, fmt.Errorf("%s is not a time such as 2026-11-20T20:36:10Z", shown(text))
	}
	return t.Unix(), nil
}

// decode reads a state. Any JSON of the right shape will do, also one that a
// formatter has been at; keys that this version does not know will not, for
// saving would lose them.
func decode(path string, text []byte) (*content, error) {
	if c, ok := scan(string(text)); ok {
		return c, nil
	}
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
		Advice: "put back an older one (" + path + ".backup, or from version control), or move it away:" +
			" what it knew is then found again by IDs, marks and names, except work items without a mark",
	}
}

type decoder struct {
	text []byte
	json *json.Decoder
	at   int64 // where the object that is being read begins
}

func (d *decoder) state() (*content, error) {
	c := &content{entries: map[resource.Address]entry{}}
	if err := d.delim('{'); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for d.json.More() {
		token, err := d.json.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		if seen[key] {
			return nil, fmt.Errorf("%s is there twice", shown(key))
		}
		seen[key] = true
		d.at = d.json.InputOffset()
		if err := d.header(c, key); err != nil {
			return nil, err
		}
	}
	if err := d.delim('}'); err != nil {
		return nil, err
	}
	d.at = d.json.InputOffset()
	if _, err := d.json.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	for _, key := range []string{"format_version", "lineage", "serial", "base_url", "workspace", "objects"} {
		if !seen[key] {
			return nil, fmt.Errorf("it has no %s", key)
		}
	}
	if c.Lineage == "" {
		return nil, errors.New("its lineage is empty")
	}
	return c, nil
}

func (d *decoder) header(c *content, key string) error {
	switch key {
	case "format_version":
		var version int
		if err := d.json.Decode(&version); err != nil {
			return err
		}
		if version != formatVersion {
			return fmt.Errorf("there is no format version %d", version)
		}
		return nil
	case "lineage":
		return d.json.Decode(&c.Lineage)
	case "serial":
		return d.json.Decode(&c.Serial)
	case "base_url":
		return d.json.Decode(&c.BaseURL)
	case "workspace":
		return d.json.Decode(&c.Workspace)
	case "journal":
		return d.json.Decode(&c.Journal)
	case "objects":
		return d.objects(c)
	default:
		return fmt.Errorf("%s is not known here", shown(key))
	}
}

func (d *decoder) objects(c *content) error {
	if err := d.delim('['); err != nil {
		return err
	}
	for d.json.More() {
		d.at = d.json.InputOffset()
		var o objectJSON
		if err := d.json.Decode(&o); err != nil {
			return err
		}
		e, err := o.entry()
		if err != nil {
			return err
		}
		if _, twice := c.entries[e.Address]; twice {
			return fmt.Errorf("%s is there twice", shown(string(e.Address)))
		}
		c.entries[e.Address] = e
	}
	return d.delim(']')
}

func (d *decoder) delim(want json.Delim) error {
	d.at = d.json.InputOffset()
	token, err := d.json.Token()
	if err != nil {
		return err
	}
	if token != want {
		return fmt.Errorf("%s was expected", want)
	}
	return nil
}

// line is where the error is: for a syntax error exactly, otherwise where the
// object begins that it is in.
func (d *decoder) line(err error) int {
	at := d.at
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		// A decoder of a stream counts from somewhere else.
		if s, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(d.text, &struct{}{})); ok {
			at = s.Offset - 1
		}
	} else if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		at = int64(len(d.text))
	}
	at = min(max(at, 0), int64(len(d.text)))
	rest := d.text[at:]
	at += int64(len(rest) - len(bytes.TrimLeft(rest, ", \t\r\n"))) // to the beginning of the object
	if at == int64(len(d.text)) {
		at = int64(len(bytes.TrimRight(d.text, " \t\r\n")))
	}
	return bytes.Count(d.text[:at], []byte("\n")) + 1
}

// reason says in plain words what encoding/json found.
func reason(err error) string {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s cannot be a %s", t.Field, t.Value)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "it ends too early"
	}
	return err.Error()
}
