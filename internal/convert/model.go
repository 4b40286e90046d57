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
	"github.com/planform/planform/internal/text/diag"
)

// Format reads the exports of one tracker.
type Format struct {
	Name    string // on the command line
	Tracker string // as people call it, such as Jira
	Unique  bool   // keys are unique in all projects together
	HTML    bool   // the tracker shows the elements of HTML that are in Markdown, and not their tags
	// Detect reports whether a file is an export of this tracker, and the sign by which it is recognised. head is the beginning as UTF-8.
	Detect func(head []byte, name string) (by string, ok bool)
	// Beside reports whether a file lies beside exports of this tracker and is not read. It may be nil.
	Beside func(name string) bool
	// Read reads the files as one export, and hands their content to the sink. Its errors name file and line.
	Read func(ctx context.Context, in Input, to Sink) error
}

// Input holds the files of an export and the settings for reading them.
type Input struct {
	Files []File
	Zone  *time.Location // of dates that are written without one
	Dates string         // order of day and month where the files leave it open: dmy or mdy

	Columns *mapping.Names[mapping.Column]    // the user's answers for the columns of tables
	Propose func(column string, field string) // takes the guessed field of a column, or ""

	spool *spool // see [Input.Keep]
}

// Each calls a function with the text of each file.
func (ip Input) Each(ctx context.Context, read func(ctx context.Context, text io.Reader, name string) error) error {
	for _, f := range ip.Files {
		if err := f.Read(func(text io.Reader) error { return read(ctx, text, f.Name) }); err != nil {
			return err
		}
	}
	return nil
}

// ColumnsError is an error that the user mends by an entry under columns in the mapping.
type ColumnsError string

// Error returns the text of the error.
func (e ColumnsError) Error() string { return string(e) }

// Sink receives the content of an export from a format.
type Sink interface {
	Project(Project)
	Person(Person) // completes a person of the same ID
	Issue(*Issue)  // the format must not change the issue later
	// PutAside moves the large parts of an issue to a file before Issue takes it, and Recall brings them back.
	PutAside(*Issue)
	Recall(*Issue)
	// Note adds a remark about the export. The kind is a stable name, such as rows-skipped; items are the keys of the issues concerned.
	Note(kind, text string, items ...string)
	// Site sets the address of the tracker, or "", and the path of an issue below it, with {key}.
	Site(url, browse string)
	AssumedZone() // dates are written without a zone
	// Hold books n values of a field with an issue, or with the export if i is nil. part is the field of the issue that takes them, or
	// their role. See [Roles].
	Hold(i *Issue, value Leaf, part Role, n int)
	// Lose records n losses of a kind that belong to no issue; of is the name that the report shows.
	Lose(kind, of string, n int)
	AskDates(pos diag.Position) // day and month cannot be told apart
}

// Project is a container of issues, such as a project, a repository or a board.
type Project struct {
	Key               string // the same in the next export
	Name, Description string
	Short             string // a word from which the key in Plane is guessed, if Key is no word
}

// Person is a person of the source.
type Person struct {
	ID    string // an account ID or a login, as issues name it
	Name  string
	Email string
	Bot   bool
	Left  bool // the tracker says that the person left
}

// Markup is a language of texts.
type Markup int

// The markups of the sources. Their numbers are stored for the next run.
const (
	Markdown Markup = iota // in which the end of a line is a break, as most trackers show it
	JiraWiki
	Plain
	HTML
	ADF        // a document of Jira Cloud, as JSON
	CommonMark // Markdown in which the end of a line is a blank
	Unsaid     // Markdown or plain, as the mapping says
)

// Markups returns markups by their names in descriptions of formats.
func Markups() map[string]Markup {
	return map[string]Markup{"plain": Plain, "html": HTML, "commonmark": CommonMark, "jira": JiraWiki, "unsaid": Unsaid}
}

// Text is a text of the source with its markup.
type Text struct {
	Markup Markup
	Body   string
}

// State is the state of an issue.
type State struct {
	Name     string
	Category string // the group of states in Plane, or "" if the source does not say
	ID       string `json:"-"` // by which a renamed state is known; "" = none
}

// Label is a label of an issue.
type Label struct{ Name, Color, Description string }

// Version is a version, milestone or release.
type Version struct{ Name, Due string }

// About is the description of a [Component], version or sprint that an issue names.
type About struct {
	Of         Role
	Name, Text string
}

// Sprint is a sprint, iteration or cycle.
type Sprint struct{ Name, Start, End string } // YYYY-MM-DD, the last day included

// Link is a relation to another issue, seen from the issue that has it.
type Link struct {
	Type   string
	To     string // the key of the other issue
	Inward bool   // the relation begins at the other issue
	Word   string `json:"-"` // the tracker's words for it, such as "is cloned by"
	Other  string `json:"-"` // the tracker's words from the other issue, such as "clones"
	Title  string `json:"-"` // of the other issue

	Files []string `json:"-"` // address and name of the attachment from which the relation was made; nil = it is one in the source, too
}

// Comment is a comment of an issue. If the source gives it no ID, its minute, author and ordinal are its key.
type Comment struct {
	ID     string
	Author string
	At     time.Time // zero if unknown
	Edited time.Time `json:"-"` // zero if unknown
	Text   Text
	Hidden bool   `json:",omitempty"` // only some may see it, or it was hidden as spam
	Source string `json:"-"`          // the value of the source, or what tells the comment apart there, if it has no ID
	Whole  bool   `json:"-"`          // Source holds the author and the time, too
	Older  string `json:"-"`          // beginnings of other texts that files have of the comment, each after a zero byte
}

// Comments are comments that files hold outside their issues, by the key with which they name the issue.
type Comments map[string][]Comment

// Add adds a comment of an issue. If pages overlap, a later comment replaces one of the same ID that was not
// edited after it. The comment that counts holds the text of the other one as older.
func (cm Comments) Add(issue string, one Comment) {
	if n := slices.IndexFunc(cm[issue], func(had Comment) bool { return had.ID == one.ID && one.ID != "" }); n >= 0 {
		had := cm[issue][n]
		if one.Edited.Before(had.Edited) && !one.Edited.IsZero() {
			one, had = had, one
		}
		one.Older += had.Older + "\x00" + beginning(had.Text.Body)
		cm[issue][n] = one
		return
	}
	cm[issue] = append(cm[issue], one)
}

// Close reports the comments whose issue is not in the export as lost.
func (cm Comments) Close(to Sink, there func(issue string) bool) {
	for _, issue := range slices.Sorted(maps.Keys(cm)) {
		if n := len(cm[issue]); n > 0 && !there(issue) {
			to.Lose("comments-outside", issue, n)
		}
	}
}

// Attachment is a file of an issue, or a page that the issue points to.
type Attachment struct {
	ID   string `json:",omitempty"` // the same in the next export, if the source tells
	Name string
	URL  string
	Size int64 `json:",omitempty"` // in bytes; 0 = unknown
}

// Field is a value for which [Issue] has no field.
type Field struct {
	Name, Value string
	Noise       bool   // of no use to people
	Source      string `json:"-"` // the name of its values in the source; "" if no value is booked
	Part        Role   `json:"-"` // the field of [Issue] whose values it repeats; "" = none
}

// Issue is one issue of the source.
type Issue struct {
	Key         string // unique in its project, the same in the next export
	ID          string // internal ID, if it differs
	Project     string // the project's key
	Number      int    // orders the issues of a project
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
	Children    []Link   `json:"-"` // used only for children that the export lacks
	Links       []Link
	Comments    []Comment
	Created     time.Time
	Updated     time.Time
	Start, Due  string // YYYY-MM-DD
	Attachments []Attachment
	Pages       []Attachment // web pages: only their addresses are known
	About       []About      `json:"-"`
	Archived    bool
	Restricted  string   `json:"-"` // the field that says that not everybody may see it; "" if everybody may
	Work        []Work   `json:",omitempty"`
	Events      []Event  `json:",omitempty"`
	Watchers    []string `json:",omitempty"` // as far as they are named
	Fields      []Field
	Left        map[string]int // numbers of losses by kind, such as worklogs, which Plane has no place for
	URL         string
	Position    diag.Position
	Held        []Held `json:"-"` // see [Roles.Enter]

	aside aside           // places of the parts that a collection put aside
	taken map[string]Role // see [Issue.Take]
}

// Take records that another part of the issue, such as its parent, was made from the values of a field of the source.
func (i *Issue) Take(source string, part Role) {
	if i.taken == nil {
		i.taken = map[string]Role{}
	}
	i.taken[source] = part
}

// takes returns the part that was made from the values of a name, or "".
func (i *Issue) takes(name string) Role {
	for ; name != "" && len(i.taken) > 0; name = name[:max(0, strings.LastIndexByte(name, '.'))] {
		if part := i.taken[name]; part != "" {
			return part
		}
	}
	return ""
}

// Discuss sets the comments of the issue, without hidden ones: a workspace has no restricted comments. counted is the number of comments
// that the export states, or 0.
func (i *Issue) Discuss(comments []Comment, counted int) {
	i.Comments = slices.DeleteFunc(comments, func(c Comment) bool { return c.Hidden })
	i.Left["comments-restricted"] = len(comments) - len(i.Comments)
	i.Left["comments-not-exported"] = max(0, counted-len(comments))
}

// Moment reads a date in one of the layouts. A date that cannot be read is counted as a loss, and the zero time is returned.
func (i *Issue) Moment(text string, layouts ...string) time.Time {
	text = strings.TrimSpace(text)
	at, ok := dates.Parse(text, layouts...)
	if !ok && text != "" {
		i.Left["dates-not-understood"]++
	}
	return at
}
