package convert

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/diag"
)

// Format reads the exports of one tracker.
type Format struct {
	Name    string // on the command line
	Tracker string // as people call it, such as Jira
	Unique  bool   // a key is that of one issue, whatever its project
	HTML    bool   // the tracker shows the elements of HTML that are in Markdown, and not their tags
	// Detect says by what it takes a file for its own. head is the beginning of the file, as UTF-8.
	Detect func(head []byte, name string) (by string, ok bool)
	// Beside says which files of a folder or an archive lie beside an export of this tracker, and hold nothing that is read. It may be nil.
	Beside func(name string) bool
	// Read hands everything of the files, which are one export together, to the sink. Its errors name file and line.
	Read func(ctx context.Context, in Input, to Sink) error
}

// Input is what a format reads.
type Input struct {
	Files []File
	Zone  *time.Location // of dates that are written without one
	Dates string         // order of day and month where the files leave it open: dmy or mdy

	Columns *mapping.Names[mapping.Column]    // what the user says of the columns of tables
	Propose func(column string, field string) // takes a guess of a column, "" if there is none

	spool *spool // see [Input.Keep]
}

// Each reads the files one after another.
func (in Input) Each(ctx context.Context, read func(ctx context.Context, text io.Reader, name string) error) error {
	for _, f := range in.Files {
		if err := f.read(func(text io.Reader) error { return read(ctx, text, f.Name) }); err != nil {
			return err
		}
	}
	return nil
}

// ColumnsError is an error that an entry under columns in the mapping mends.
type ColumnsError string

// Error returns the text of the error.
func (e ColumnsError) Error() string { return string(e) }

// Sink takes what a format reads.
type Sink interface {
	Project(Project)
	Person(Person) // a later one adds what the earlier one lacks
	Issue(*Issue)  // which is not changed any more
	// Note tells people something of the export itself. The kind is a stable name, such as rows-skipped; items are issues that it is about.
	Note(kind, text string, items ...string)
	// Site is the address of the tracker, "" if the export does not tell, and the path of an issue below it, with {key}.
	Site(url, browse string)
	AssumedZone() // dates are written without a zone
	// Hold books values of a field of the source: with an issue, or with the export if it is nil. See [Roles].
	Hold(i *Issue, name string, role Role, example string, n int)
	// Lose notes what belongs to no issue here, by a kind of loss: n of what of names.
	Lose(kind, of string, n int)
	AskDates(pos diag.Position) // day and month cannot be told apart
}

// Project is what issues belong to.
type Project struct {
	Key               string // the same in the next export
	Name, Description string
	Short             string // what its key in Plane is guessed from, if Key is no word
}

// Person is somebody of the source.
type Person struct {
	ID    string // what issues name: an account ID, a login
	Name  string
	Email string
	Bot   bool
	Left  bool // the tracker says so
}

// Markup is how a text is written.
type Markup int

// The markups of the sources. Their numbers are in what a run leaves for the next.
const (
	Markdown Markup = iota // in which the end of a line is a break, as most trackers show it
	JiraWiki
	Plain
	HTML
	ADF        // a document of Jira Cloud, as JSON
	CommonMark // Markdown in which the end of a line is a blank
	Unsaid     // Markdown or plain, as the mapping says
)

// Text is a text as the source has it.
type Text struct {
	Markup Markup
	Body   string
}

// State is the state of an issue.
type State struct {
	Name     string
	Category string // the group of states of Plane that it belongs to, "" if the source does not say
}

// Label is a label of an issue.
type Label struct{ Name, Color, Description string }

// Version is a version, milestone or release.
type Version struct{ Name, Due string }

// Sprint is a sprint, iteration or cycle.
type Sprint struct{ Name, Start, End string } // YYYY-MM-DD, the last day included

// Link is a relation to another issue, named from the issue that has it.
type Link struct {
	Type   string
	To     string // the key of the other issue
	Inward bool   // the other one is where the relation begins
	Word   string `json:"-"` // how the tracker says it from here, such as "is cloned by"
	Other  string `json:"-"` // and from there, such as "clones"
	Title  string `json:"-"` // of the other issue
}

// Comment is a comment. Where the source gives it no ID, its minute, author and ordinal are its key.
type Comment struct {
	ID     string
	Author string
	At     time.Time // zero if unknown
	Text   Text
	Hidden bool `json:",omitempty"` // only some may see it, or it was hidden as spam
}

// Comments are those that files hold apart from their issues, by what they name an issue by.
type Comments map[string][]Comment

// Add takes a comment of an issue. Pages overlap: of two with one ID the later one counts.
func (c Comments) Add(issue string, one Comment) {
	if n := slices.IndexFunc(c[issue], func(had Comment) bool { return had.ID == one.ID && one.ID != "" }); n >= 0 {
		c[issue][n] = one
		return
	}
	c[issue] = append(c[issue], one)
}

// Close notes the comments whose issue is not there.
func (c Comments) Close(to Sink, there func(issue string) bool) {
	for _, issue := range slices.Sorted(maps.Keys(c)) {
		if n := len(c[issue]); n > 0 && !there(issue) {
			to.Lose("comments-outside", issue, n)
		}
	}
}

// Attachment is a file of an issue, or a page that it points to.
type Attachment struct {
	ID   string `json:",omitempty"` // the same in the next export, if the source tells
	Name string
	URL  string
	Size int64 `json:",omitempty"` // in bytes; 0 = unknown
}

// Field is a value that the model has no word for.
type Field struct {
	Name, Value string
	Noise       bool   // of no use to people
	Source      string `json:"-"` // what its values are called in the source; "" if nothing is booked
}

// Issue is one issue of the source.
type Issue struct {
	Key         string // unique in its project, the same in the next export
	ID          string // internal ID, if it differs
	Project     string // the project's key
	Number      int    // by which issues of a project are ordered
	Title       string
	Text        Text
	Environment Text
	State       State
	Resolution  string
	Type        string
	Priority    string
	Assignees   []string
	Reporter    string
	Creator     string
	Labels      []Label
	Components  []string
	Versions    []Version
	Affects     []string
	Sprints     []Sprint // the last one counts
	Parent      string   // key; "" = none
	ParentTitle string   `json:"-"`
	Children    []Link   `json:"-"` // which say it themselves, if the export has them
	Links       []Link
	Comments    []Comment
	Created     time.Time
	Updated     time.Time
	Start, Due  string // YYYY-MM-DD
	Attachments []Attachment
	Pages       []Attachment // no files: their addresses are all there is
	Archived    bool
	Restricted  string   `json:"-"` // the field that says that not everybody may see it; "" if everybody may
	Work        []Work   `json:",omitempty"`
	Events      []Event  `json:",omitempty"`
	Watchers    []string `json:",omitempty"` // as far as they are named
	Fields      []Field
	Left        map[string]int // how much of what has no place in Plane, such as worklogs
	URL         string
	Position    diag.Position
	Held        []Held `json:"-"` // see [Roles.Enter]

	aside aside // what a collection keeps elsewhere
}

// Discuss gives the issue its comments. counted is how many the export counts, 0 if it does not. Those that only some may see are left
// out, as a workspace has none of that kind.
func (i *Issue) Discuss(comments []Comment, counted int) {
	i.Comments = slices.DeleteFunc(comments, func(c Comment) bool { return c.Hidden })
	i.Left["comments-restricted"] = len(comments) - len(i.Comments)
	i.Left["comments-not-exported"] = max(0, counted-len(comments))
}

// Moment reads a date in one of some layouts. One that cannot be read is counted, and left out.
func (i *Issue) Moment(text string, layouts ...string) time.Time {
	text = strings.TrimSpace(text)
	at, ok := dates.Parse(text, layouts...)
	if !ok && text != "" {
		i.Left["dates-not-understood"]++
	}
	return at
}
