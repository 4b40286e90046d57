package export

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// Options select the objects to read.
type Options struct {
	Workspace string
	API       resource.API     // v1 or v2
	Owner     resource.Owner   // of the manifests, if no exported object has an owner; "" = they name no owner
	BaseURL   string           // of the service, which the manifests name as their source; "" = they name no source
	WebURL    string           // of the web app, to whose pages texts link
	Projects  []string         // identifiers, names or IDs; empty = all
	Only      []string         // sections, such as work_items; empty = all
	With      []string         // parts that take one request for each work item, such as links
	Prior     planner.Prior    // records of an earlier export, whose keys are kept
	Observed  planner.Observed // answers that were already read
	Spool     string           // folder for the files of attachments, until they are written
	// Expect is called with the number of lists to read next and their name, Answered after each list. Both are nil, or none.
	Expect   func(lists int, what string)
	Answered func()
}

// Read exports the content of the workspace.
func Read(ctx context.Context, client *apiclient.Client, o Options) (*Export, error) {
	kinds, err := chooseKinds(o.Only, o.With)
	if err != nil {
		return nil, err
	}
	if o.Expect == nil {
		o.Expect, o.Answered = func(int, string) {}, func() {}
	}
	found, err := read(ctx, client, o, kinds)
	if err != nil {
		return nil, err
	}
	if err := found.downloadAll(ctx, client, o); err != nil {
		return nil, err
	}
	if err := found.readCustom(ctx, client, o); err != nil {
		return nil, err
	}
	found.formerKeys = formerKeys(o.Prior)
	found.assignKeys(found.root, o.Workspace)
	return compose(found, o)
}

// Export is the content of a workspace, as files.
type Export struct {
	Files   []File           // in the order in which they must be written
	Records []planner.Record // for the state
	Counts  []Count          // objects in the files, by kind
	Skipped []Count          // parts that were not read, because they take many requests, with the number of requests
	Omitted []Omission       // parts that the service has and the files do not
	Denied  bool             // a permission was missing

	findings diag.List
}

// File is one file. Its name has slashes.
type File struct {
	Name string
	Data []byte
	From string // path of a file with the content; "" = Data is the content
}

// Count is the number of objects in a section.
type Count struct {
	Name   string `json:"name"` // of the section, such as work_items
	Number int    `json:"number"`
}

// omissions lists the objects and fields that are left out, by reason.
type omissions map[omission][]place

// omission is a reason why an object or a field is left out.
type omission struct {
	what, why string
	isObject  bool // an object is left out, not a field of one
}

// place is a place where something is left out, and how often.
type place struct {
	where string
	count int
}

func (o omissions) add(what omission, where string, count int) {
	o[what] = append(o[what], place{where, count})
}

// Omission is a part that the service has and the manifests do not.
type Omission struct {
	What     string   `json:"what"` // such as intakes, or second cycle
	Why      string   `json:"why"`
	Count    int      `json:"count"`
	Examples []string `json:"examples"` // the first few places
}

// Findings returns warnings about everything that is not in the manifests, with reasons.
func (e *Export) Findings() diag.List { return e.findings }

// skip adds a part that was not read. Of several kinds with the same name it keeps the larger number of
// requests, because one answer can hold all of them.
func (e *Export) skip(name string, requests int) {
	c := countOf(&e.Skipped, name)
	c.Number = max(c.Number, requests)
}

// countOf returns the count of a name in a list, and adds the name if necessary.
func countOf(counts *[]Count, name string) *Count {
	at := slices.IndexFunc(*counts, func(c Count) bool { return c.Name == name })
	if at < 0 {
		at = len(*counts)
		*counts = append(*counts, Count{Name: name})
	}
	return &(*counts)[at]
}

// report adds a finding for everything that is not in the manifests: parts that were not read, were left out, or are never read.
func (e *Export) report(found *content, api resource.API) {
	var unsupported []string
	for _, k := range resource.Kinds() {
		if found.unsupported[k] && k.Section != "" {
			has := func(o *resource.Kind) bool {
				_, listed := o.Op(resource.List, api)
				return listed && o.Section == k.Section && !found.unsupported[o]
			}
			name := humanize(k.Section)
			switch {
			case k.Parent == "" && slices.ContainsFunc(resource.Children("project"), has):
				name += " of the workspace"
			case k.Parent == "project" && slices.ContainsFunc(resource.Children(""), has):
				name += " of projects"
			}
			if !slices.Contains(unsupported, name) {
				unsupported = append(unsupported, name)
			}
		}
		if where := found.denied[k]; len(where) > 0 {
			slices.Sort(where)
			e.Denied = true
			e.findings.Add(warning("permission", "the credential may not read the "+humanize(sectionName(k))+" of "+diag.First(where, fewNames)))
		}
		if n := found.skipped[k]; n > 0 {
			e.skip(sectionName(k), n)
		}
	}
	if found.unreadFields > 0 {
		e.skip(customFields, found.unreadFields)
	}
	if len(unsupported) > 0 {
		e.findings.Add(warning("not-in-edition", "this edition of the service does not have "+strings.Join(unsupported, ", ")))
	}
	if slices.Sort(found.roleless); len(found.roleless) > 0 {
		in := slices.Compact(found.roleless)
		e.findings.Add(warning("roles-unknown", "the service does not show the roles of members of "+diag.Count(len(in), "project")+
			": a guest becomes a member in a copy ("+diag.First(in, fewNames)+")"))
	}
	e.reportOmissions(found.omitted)
	e.reportUnmanaged()
}

// reportOmissions reports what was left out, with one finding for each reason.
func (e *Export) reportOmissions(omitted omissions) {
	byText := func(a, b omission) int { return cmp.Or(strings.Compare(a.what, b.what), strings.Compare(a.why, b.why)) }
	for _, l := range slices.SortedFunc(maps.Keys(omitted), byText) {
		o := Omission{What: l.what, Why: l.why}
		for _, place := range omitted[l] {
			o.Count += place.count
			if !slices.Contains(o.Examples, place.where) {
				o.Examples = append(o.Examples, place.where)
			}
		}
		slices.Sort(o.Examples)
		e.findings.Add(warning("left-out", l.text(o)))
		o.Examples = o.Examples[:min(5, len(o.Examples))]
		e.Omitted = append(e.Omitted, o)
	}
}

// text describes what is left out.
func (om omission) text(o Omission) string {
	switch {
	case om.isObject:
		return fmt.Sprintf("%s left out: %s (%s)", diag.Count(o.Count, om.what), om.why, diag.First(o.Examples, fewNames))
	case o.Count > 1:
		return fmt.Sprintf("the %s of %d is left out: %s (%s)", om.what, o.Count, om.why, diag.First(o.Examples, fewNames))
	default:
		return fmt.Sprintf("the %s of %s is left out: %s", om.what, diag.First(o.Examples, fewNames), om.why)
	}
}

// reportUnmanaged adds a note about parts that are never read, because no manifest could hold them.
func (e *Export) reportUnmanaged() {
	var beyond []string
	for _, k := range resource.Kinds() {
		for _, c := range e.Counts {
			if c.Name == k.Section && len(k.Unmanaged) > 0 {
				beyond = append(beyond, strings.Join(k.Unmanaged, ", ")+" of "+humanize(k.Section))
			}
		}
	}
	if len(beyond) > 0 {
		e.findings.Add(diag.Diagnostic{
			Severity: diag.Note, Code: "not-looked-for",
			Summary: "not exported, because manifests do not support them: " + strings.Join(beyond, "; "),
		})
	}
}

func warning(code, summary string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: code, Summary: summary}
}

// fewNames is the number of names that a message lists.
const fewNames = 5

func humanize(name string) string { return strings.ReplaceAll(name, "_", " ") }
