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
	"github.com/planform/planform/internal/text/diag"
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
	text, err := diag.SafeJSON(struct {
		FormatVersion int `json:"format_version"`
		identity
		Journal string `json:"journal,omitempty"`
		Plan    *Plan  `json:"plan,omitempty"`
	}{formatVersion, cn.identity, cn.Journal, cn.Plan}, "")
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
		if text, err = diag.SafeJSON(cn.records[address], ""); err != nil {
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
	c := &content{records: planner.Prior{}}
	line, err := c.decode(text)
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
		Path: path, Line: line, Reason: "the state is damaged, or not from planform: " + err.Error(),
		Advice: "restore an older one, such as " + path + ".backup; or move it away: objects are then found by IDs, marks and names",
	}
}

// decode reads a state, and returns the line of an error, or 0.
func (cn *content) decode(text []byte) (line int, err error) {
	var file struct {
		FormatVersion int `json:"format_version"`
		identity
		Journal string            `json:"journal"`
		Plan    *Plan             `json:"plan"`
		Objects []json.RawMessage `json:"objects"`
	}
	if line, err = diag.ReadJSON(text, &file); err != nil {
		return line, err
	}
	switch {
	case file.FormatVersion == 0:
		return 0, errors.New("it has no format version")
	case file.FormatVersion != formatVersion:
		return 0, fmt.Errorf("there is no format version %d", file.FormatVersion)
	case file.Lineage == "":
		return 0, errors.New("it has no lineage")
	case file.Objects == nil:
		return 0, errors.New("it has no objects")
	}
	cn.identity, cn.Journal, cn.Plan = file.identity, file.Journal, file.Plan
	at := 0
	for _, object := range file.Objects {
		at += bytes.Index(text[at:], object)
		if err := cn.addObject(object); err != nil {
			return 1 + bytes.Count(text[:at], []byte("\n")), err
		}
		at += len(object)
	}
	return 0, nil
}

// addObject adds the record of an object.
func (cn *content) addObject(text []byte) error {
	var r planner.Record
	if _, err := diag.ReadJSON(text, &r); err != nil {
		return err
	}
	if r.Address == "" {
		return errors.New("an object has no address")
	}
	if _, twice := cn.records[r.Address]; twice {
		return fmt.Errorf("%s is there twice", quoted(string(r.Address)))
	}
	var err error
	cn.records[r.Address], err = readRecord(r)
	return err
}
