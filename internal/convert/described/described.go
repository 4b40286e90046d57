// Package described reads answers of trackers' REST APIs by descriptions: pages, arrays or lines of issues, and beside them comments and
// other objects with an address of their own, in any number of files. It also reads exports of the same form.
//
// Each tracker has a text that describes its records (redmine.txt; words.md lists the words), and hooks in code for rules that
// no path can express (redmine.go). The rest is the same for all: several records of one issue are joined, and comments,
// files and changes find their issue.
// The package must not know manifests.
package described

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/text/diag"
)

// api describes how the files of a tracker are recognised, and where their records stand.
type api struct {
	name     string   // how the command line names it
	settings *section // the first section of the description
	lists    []string // paths of lists with records: see records.Read
	scoped   bool     // keys are unique only within a project
	byID     bool     // other records name an issue by its ID
	text     string   // the description
	hooks    func() hooks
	beside   func(name string) bool                 // see convert.Format
	signs    func(head []byte) (by string, ok bool) // recognises a file that names are not enough for; nil = none
}

// texts holds the descriptions.
//
//go:embed *.txt
var texts embed.FS

// textOf returns the description in a file of that name.
func textOf(name string) string {
	text, _ := texts.ReadFile(name + ".txt") // it is part of the program
	return string(text)
}

func apis() []*api {
	return []*api{jiraJSON(), jiraBackup(), github(), trello(), gitlab(), bitbucket(), redmine(), azure(), youtrack(), asana(), bugzilla(), linear()}
}

// Formats returns the formats that are described.
func Formats() []*convert.Format {
	var all []*convert.Format
	for _, a := range apis() {
		all = append(all, &convert.Format{
			Name: a.name, Tracker: a.settings.word("tracker"), Detect: a.detect, Read: a.read, Beside: a.beside, Unique: !a.scoped, HTML: a.settings.word("html") != "",
		})
	}
	return all
}

// detect recognises a file by its name, by the names in it, or by an empty list.
func (a *api) detect(head []byte, name string) (string, bool) {
	if a.signs != nil {
		if by, ok := a.signs(head); ok {
			return by, true
		}
	}
	if !records.Begin(head) {
		return "", false
	}
	if file := a.settings.word("file"); file != "" && regexp.MustCompile(file).MatchString(name) {
		return "the name of the file", true
	}
	for _, l := range a.settings.lines {
		if l.Of != "known" {
			continue
		}
		list, by, said := strings.Cut(l.Names[0], ": ")
		names := strings.Fields(list)
		if !slices.ContainsFunc(names, func(name string) bool {
			other, not := strings.CutPrefix(name, "!")
			return records.Name(head, other) == not
		}) {
			if said {
				return by, true
			}
			if last := len(names) - 1; last > 0 {
				return "the fields " + strings.Join(names[:last], ", ") + " and " + names[last], true
			}
			return "the field " + names[0], true
		}
	}
	if empty := a.settings.paths("empty"); len(empty) > 0 {
		begin := strings.Join(strings.Fields(string(head[:min(len(head), 100)])), "")
		return "an empty list", slices.ContainsFunc(empty, func(list string) bool { return strings.HasPrefix(begin, `{"`+list+`":[]`) })
	}
	return "", false
}

func (a *api) read(ctx context.Context, in convert.Input, to convert.Sink) error {
	x := a.reader(in, to)
	err := in.Each(ctx, func(ctx context.Context, text io.Reader, name string) error {
		if x.hooks.read != nil {
			return x.hooks.read(ctx, x, text, name)
		}
		return records.Read(ctx, text, name, a.lists, x.record)
	})
	if err != nil {
		return err
	}
	if x.finish(); x.wrong != nil {
		return x.wrong
	}
	for _, counts := range []bool{false, true} { // the values of a superseded record are booked before the issue that counts
		for _, i := range x.issues {
			if (x.latest[x.key(i)] == i) == counts {
				x.hand(i)
			}
		}
	}
	x.comments.Close(to, func(key string) bool { return x.latest[key] != nil })
	x.apart.Close(to)
	if x.hours {
		to.AssumedZone()
	}
	return nil
}

// hand completes an issue with the content of other records, and hands it to the sink unless it is left out.
func (x *reader) hand(i *convert.Issue) {
	x.to.Recall(i)
	at := x.key(i)
	if x.head().word("sorted") != "" {
		slices.SortStableFunc(x.comments[at], func(a, b convert.Comment) int {
			return cmp.Or(a.At.Compare(b.At), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
		})
	}
	if lists := x.tasks[at]; lists != nil && x.latest[at] == i {
		i.Text.Body = strings.TrimSpace(i.Text.Body + "\n\n" + x.taskLists(i, x.find("tasks"), lists))
	}
	x.relatePages(i)
	if x.hooks.complete != nil {
		x.hooks.complete(x, i)
	}
	if x.latest[at] == i {
		i.Discuss(x.comments[at], x.counted[at])
		i.Left["watchers"] = max(i.Left["watchers"], len(i.Watchers))
		i.Left["history"], i.Left["worklogs"] = max(i.Left["history"], len(i.Events)), max(i.Left["worklogs"], len(i.Work))
	}
	if left := x.leave[i]; left != "" {
		convert.LeaveOut(x.to, left, i.Held)
		return
	}
	x.to.Issue(i)
}

// relatePages turns pages that an issue points to into relations if they are the pages of other issues of its project. The relation begins at
// one of the two issues, so that two issues that point to each other have one relation.
func (x *reader) relatePages(i *convert.Issue) {
	if x.itemPage == nil {
		return
	}
	i.Pages = slices.DeleteFunc(i.Pages, func(page convert.Attachment) bool {
		m := append(x.itemPage.FindStringSubmatch(page.URL), "", "")
		other := x.original[m[1]]
		if other == nil || other == i || other.Project != i.Project {
			return false
		}
		i.Links = append(i.Links, convert.Link{Type: x.head().word("related"), To: other.Key, Inward: other.Key < i.Key, Files: []string{page.URL, page.Name}})
		return true
	})
}

// key returns the key by which other records name an issue.
func (x *reader) key(i *convert.Issue) string {
	if x.byID {
		return cmp.Or(i.ID, i.Key)
	}
	if x.scoped {
		return i.Project + "#" + i.Key
	}
	return i.Key
}

// add adds an issue. Of two records with one key the later state counts; if both are equally old, the one with more values counts, because
// a list has fewer values than an answer for one issue. Until all files are read, the large parts of the issue are in a file.
func (x *reader) add(i *convert.Issue) {
	at := x.key(i)
	for _, h := range i.Held {
		x.told[i] += h.N
	}
	if had := x.latest[at]; had == nil {
		x.latest[at] = i
	} else {
		x.to.Recall(had)
		if i.Updated.Before(had.Updated) || i.Updated.Equal(had.Updated) && x.told[i] < x.told[had] {
			complete(had, i)
		} else {
			complete(i, had)
			x.latest[at] = i
		}
		x.to.PutAside(had)
	}
	x.to.PutAside(i)
	x.issues = append(x.issues, i)
}

// complete adds to an issue the lists and the parent that only another record of it has, with their values. Comments are of all records.
func complete(i, other *convert.Issue) {
	i.Attachments, i.Links, i.Events = either(i.Attachments, other.Attachments), either(i.Links, other.Links), either(i.Events, other.Events)
	i.Work, i.Watchers, i.Parent = either(i.Work, other.Work), either(i.Watchers, other.Watchers), cmp.Or(i.Parent, other.Parent)
	own, moved := map[convert.Role]bool{}, []convert.Held{}
	for _, h := range i.Held {
		own[h.Of.Role] = true
	}
	other.Held = slices.DeleteFunc(other.Held, func(h convert.Held) bool {
		isMoved := !own[h.Of.Role] && slices.Contains([]convert.Role{convert.OfComment, convert.OfFile, convert.Relation, convert.OfParent}, h.Of.Role)
		if isMoved {
			moved = append(moved, h)
		}
		return isMoved
	})
	i.Held = append(i.Held, moved...)
}

// either returns the first list, or the second if the first is empty.
func either[T any](first, second []T) []T {
	if len(first) == 0 {
		return second
	}
	return first
}

// comment adds a comment of an issue. Without an ID, a comment of the same author, time and text is the same comment.
func (x *reader) comment(key string, one convert.Comment) {
	if one.ID != "" || one.At.IsZero() || !slices.Contains(x.comments[key], one) {
		x.comments.Add(key, one)
	}
}

// field adds a row to the table of an issue's fields.
func field(i *convert.Issue, name, text, source string) {
	if text = strings.TrimSpace(text); text != "" {
		i.Fields = append(i.Fields, convert.Field{Name: name, Value: text, Source: source})
	}
}

// about adds a text about a file or a relation to a row of the issue's fields, because the object has no place for it.
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

// before orders two keys, so that a relation without a direction begins at the same issue in both records.
func before(a, b string) bool { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) < 0 }

// person adds a person and returns the ID: the first of some IDs, the address or the name that is not empty.
func (x *reader) person(name, email string, ids ...string) string {
	id := cmp.Or(append(ids, email, name)...)
	if id != "" {
		x.known[id] = cmp.Or(x.known[id], name)
		x.to.Person(convert.Person{ID: id, Name: name, Email: email, Bot: strings.HasSuffix(id, "[bot]")})
	}
	return id
}

func moment(i *convert.Issue, text string) time.Time {
	return i.Moment(text, time.RFC3339Nano, "2006-01-02T15:04:05.999-0700")
}

func day(i *convert.Issue, text string) string { return dates.Day(i.Moment(text, time.DateOnly)) }

// noteIf adds a remark if a number of objects is not 0.
func (x *reader) noteIf(n int, kind, text string) {
	if n > 0 {
		x.to.Note(kind, text)
	}
}

// foreign returns the error that a record is no answer of the tracker.
func (x *reader) foreign(r records.Record, what, hint string) error {
	return diag.WithHint(fmt.Errorf("%s: it is no answer of %s: %s", r.Position, x.head().word("tracker"), what), hint)
}
