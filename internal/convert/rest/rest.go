// Package rest reads what the REST APIs of trackers answer: pages, arrays or lines of issues, single ones, and beside them comments and
// whatever else is asked for by an address of its own, in any number of files.
//
// Each tracker has a file of its own, which says what its answers hold; values.txt says what their values are for. The rest is the same
// for all: what several answers say of one issue is put together, and comments find their issue.
// The package must not know manifests.
package rest

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/diag"
)

// api is what is known of the answers of a tracker.
type api struct {
	name    string         // how the command line names it
	tracker string         // as people call it
	needs   [][]string     // names by which a file is recognised: all of one list
	empty   *regexp.Regexp // how a file begins that holds nothing; nil = by no name
	lists   []string       // where answers have their records: see records.Read
	// start gives what reads a record, and what is done after the last one.
	start func(e *export) (read func(r records.Record) error, finish func())
}

// Formats are the trackers.
func Formats() []*convert.Format {
	var all []*convert.Format
	for _, a := range []*api{redmine(), azure(), youtrack(), asana(), bugzilla()} {
		all = append(all, &convert.Format{Name: a.name, Tracker: a.tracker, Detect: a.detect, Read: a.read, Unique: true, HTML: a.name == "azure-json"})
	}
	return all
}

// detect looks for names that answers have.
func (a *api) detect(head []byte, _ string) (string, bool) {
	for _, names := range a.needs {
		if records.Name(head, names...) {
			if last := len(names) - 1; last > 0 {
				return "the fields " + strings.Join(names[:last], ", ") + " and " + names[last], true
			}
			return "the field " + names[0], true
		}
	}
	if a.empty != nil && a.empty.Match(head) {
		return "an empty list", true
	}
	return "", false
}

//go:embed values.txt
var valueList string

// rolesOf are the roles of a section.
func rolesOf(title string) *convert.Roles {
	_, list, _ := strings.Cut(valueList, "\n\n"+title+"\n")
	list, _, _ = strings.Cut(list, "\n\n")
	return convert.ReadRoles(list)
}

// export is what all files say together.
type export struct {
	*api

	in       convert.Input
	to       convert.Sink
	roles    *convert.Roles
	issues   []*convert.Issue
	latest   map[string]*convert.Issue  // by key
	comments convert.Comments           // by key
	counted  map[string]int             // how many comments the tracker counts, by key
	events   map[string][]convert.Event // what other answers say was changed, by key
	apart    convert.Apart              // what answers hold that are no issues, by key
}

// read reads the files as one export.
func (a *api) read(ctx context.Context, in convert.Input, to convert.Sink) error {
	e := &export{
		api: a, in: in, to: to, roles: rolesOf(a.name), latest: map[string]*convert.Issue{}, comments: convert.Comments{},
		counted: map[string]int{}, events: map[string][]convert.Event{}, apart: convert.Apart{},
	}
	one, finish := a.start(e)
	err := in.Each(ctx, func(ctx context.Context, text io.Reader, name string) error {
		return records.Read(ctx, text, name, a.lists, one)
	})
	if err != nil {
		return err
	}
	finish()
	for _, i := range e.issues {
		if e.latest[i.Key] != i { // it is booked, and goes before what counts
			to.Issue(i)
		}
	}
	for _, i := range e.issues {
		if e.latest[i.Key] == i {
			i.Discuss(e.comments[i.Key], e.counted[i.Key])
			i.Events = append(i.Events, e.events[i.Key]...)
			i.Left["watchers"] = max(i.Left["watchers"], len(i.Watchers))
			i.Left["history"], i.Left["worklogs"] = len(i.Events), len(i.Work)
			e.apart.Join(i, i.Key)
			to.Issue(i)
		}
	}
	e.comments.Close(to, func(key string) bool { return e.latest[key] != nil })
	e.apart.Close(to)
	return nil
}

// add takes an issue. Of two with one key the later state counts; but a list of issues tells less than the answer for one of them.
func (e *export) add(i *convert.Issue) {
	had := e.latest[i.Key]
	switch {
	case had == nil:
		e.latest[i.Key] = i
	case i.Updated.Before(had.Updated), i.Updated.Equal(had.Updated) && told(i) < told(had):
		complete(had, i)
	default:
		complete(i, had)
		e.latest[i.Key] = i
	}
	e.issues = append(e.issues, i)
}

// told is how many values an answer has of an issue.
func told(i *convert.Issue) (n int) {
	for _, h := range i.Held {
		n += h.N
	}
	return n
}

// complete gives an issue what only another answer says of it.
func complete(i, other *convert.Issue) {
	if len(i.Attachments) == 0 {
		i.Attachments = other.Attachments
	}
	if len(i.Links) == 0 {
		i.Links = other.Links
	}
	if len(i.Events) == 0 {
		i.Events = other.Events
	}
	if len(i.Work) == 0 {
		i.Work = other.Work
	}
	if len(i.Watchers) == 0 {
		i.Watchers = other.Watchers
	}
	i.Parent = cmp.Or(i.Parent, other.Parent)
}

// comment takes a comment of an issue. One without an ID is told from others by what it says, and when.
func (e *export) comment(key string, one convert.Comment) {
	if one.ID != "" || one.At.IsZero() || !slices.Contains(e.comments[key], one) {
		e.comments.Add(key, one)
	}
}

// leave books what a record holds that is left out. what says which records these are.
func (e *export) leave(r records.Record, what string) {
	hidden := &convert.Issue{Left: map[string]int{}}
	e.enter(hidden, r, "", nil)
	convert.LeaveOut(e.to, what, hidden.Held)
}

// beside books what an answer of its own holds of an issue, such as a comment. what leads the names of its values. The values of some
// names say what others say, too.
func (e *export) beside(r records.Record, key, what string, also ...string) {
	e.roles.Enter(e.to, e.apart.Of(key), func(yield func(name, text string) bool) {
		for name, text := range r.Values(what, e.roles.Whole) {
			if slices.Contains(also, name) {
				name = "also: " + name
			}
			if !yield(name, text) {
				return
			}
		}
	})
}

// value is a value with its name.
type value struct{ name, text string }

// enter books the values of a record: those of an issue with it, others with the export. What is within the object that the prefix names
// goes by its own name. Those of some names are left out, for which there are others, such as those of a list of custom fields, in which
// the name of each is a value, too.
func (e *export) enter(i *convert.Issue, r records.Record, prefix string, others []value, without ...string) {
	e.roles.Enter(e.to, i, func(yield func(name, text string) bool) {
		for name, text := range r.Values("", e.roles.Whole) {
			name = strings.TrimPrefix(name, prefix)
			if !slices.Contains(without, name) && !yield(name, text) {
				return
			}
		}
		for _, one := range others {
			if strings.TrimSpace(one.text) != "" && !yield(one.name, one.text) {
				return
			}
		}
	})
}

// field adds a row to the table of an issue's fields.
func field(i *convert.Issue, name, text, source string) {
	if text = strings.TrimSpace(text); text != "" {
		i.Fields = append(i.Fields, convert.Field{Name: name, Value: text, Source: source})
	}
}

// about adds to a row what is said of something that has no place for it, such as a file.
func about(i *convert.Issue, name, what, text, source string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	text = what + ": " + text
	if n := slices.IndexFunc(i.Fields, func(f convert.Field) bool { return f.Name == name && f.Source == source }); n >= 0 {
		i.Fields[n].Value += "\n" + text
		return
	}
	field(i, name, text, source)
}

// before orders two keys, so that a relation without a direction begins at one of its ends, whichever shows it.
func before(a, b string) bool { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) < 0 }

// person notes somebody, and says by what they are known: the first word that is there.
func (e *export) person(name, email string, ids ...string) string {
	id := cmp.Or(append(ids, email, name)...)
	if id != "" {
		e.to.Person(convert.Person{ID: id, Name: name, Email: email})
	}
	return id
}

// moment reads a time of an issue.
func moment(i *convert.Issue, text string) time.Time {
	return i.Moment(text, time.RFC3339Nano, "2006-01-02T15:04:05.999-0700")
}

// day reads a calendar day of an issue.
func day(i *convert.Issue, text string) string { return dates.Day(i.Moment(text, time.DateOnly)) }

// texts are the members of a value as people read them: of a list all, of an object the first of its names that is there.
func texts(raw json.RawMessage, names ...string) []string {
	var list []json.RawMessage
	var object map[string]json.RawMessage
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
	case json.Unmarshal(raw, &text) == nil:
		if text = strings.TrimSpace(text); text != "" {
			return []string{text}
		}
	case json.Unmarshal(raw, &list) == nil:
		var all []string
		for _, one := range list {
			all = append(all, texts(one, names...)...)
		}
		return all
	case json.Unmarshal(raw, &object) == nil:
		for _, name := range names {
			if all := texts(object[name]); len(all) > 0 {
				return all
			}
		}
	default:
		return []string{string(raw)}
	}
	return nil
}

// foreign is the error for what is no answer of the tracker.
func (e *export) foreign(r records.Record, what, hint string) error {
	return diag.WithHint(fmt.Errorf("%s: it is no answer of %s: %s", r.Position, e.tracker, what), hint)
}
