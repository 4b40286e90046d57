package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
	"github.com/planform/planform/schema"
)

// Export is what a workspace holds, as files.
type Export struct {
	Files   []File           // in the order in which they are to be written
	Records []planner.Record // what the state is to know
	Counts  []Count          // things that are in the files, by kind
	Skipped []Count          // what was not read, since it takes so many requests
	Omitted []Omission       // what the service holds and the files do not
	Denied  bool             // something could not be read for want of permission

	workspace   string
	baseURL     string
	root        *object
	all         map[serviceID]*object // that were read
	findings    diag.List
	checker     *schema.Checker
	names       fileNames
	omitted     map[omission][]readOmission // what is not in the files
	memberships map[resource.Address]*planner.Record
	declared    map[edge]bool // members that a manifest names already, from the other side
	walked      map[step]bool // by [Export.breaks]
	broken      map[step]bool // that would lead back to where they are from
}

// File is one file, its name with slashes.
type File struct {
	Name string
	Data []byte
}

// Count is how many there are of something.
type Count struct {
	Name   string // of the section, such as work_items
	Number int
}

// omission is why something is not in the manifests.
type omission struct {
	what, why string
	whole     bool // it is a thing, not a field of one
}

// Omission is something that the service holds and the manifests do not.
type Omission struct {
	What     string // such as intakes, or second module
	Why      string
	Count    int
	Examples []string // where it is, the first few
}

// edge says that one thing names another.
type edge struct {
	kind     string // the membership
	from, to string
}

// Findings tell what is not in the manifests, and why.
func (e *Export) Findings() diag.List { return e.findings }

func (e *Export) skip(name string, requests int) {
	for i := range e.Skipped {
		if c := &e.Skipped[i]; c.Name == name {
			c.Number = max(c.Number, requests)
			return
		}
	}
	e.Skipped = append(e.Skipped, Count{name, requests})
}

// compose makes the files and the records.
func (e *Export) compose() error {
	var err error
	if e.checker, err = schema.New(); err != nil {
		return err
	}
	e.walked, e.broken = map[step]bool{}, map[step]bool{}
	e.declared, e.memberships = map[edge]bool{}, map[resource.Address]*planner.Record{}
	project := resource.MustLookup("project")
	e.names.take("workspace.yaml") // no project gets it
	for _, p := range e.root.exports(project) {
		first := len(e.Records)
		document := e.document(manifest.Entry{Key: project.Section, Value: []any{e.object(p)}})
		name := e.names.free("", cmp.Or(strings.ToLower(p.identifier), p.key), ".yaml")
		e.recordSources(first, name)
		e.file(name, "The project "+p.name()+" of the workspace "+e.workspace+".", document)
	}
	var rest manifest.Map
	first := len(e.Records)
	for _, k := range inOrder(resource.Children("")) {
		if k != project {
			rest = append(rest, e.section(e.root, k)...)
		}
	}
	e.recordSources(first, "workspace.yaml")
	e.file("workspace.yaml", "What the workspace "+e.workspace+" has outside its projects.", e.document(rest...))
	e.reportOmissions()
	for _, r := range e.memberships {
		slices.Sort(r.Members)
		slices.Sort(r.Found)
		e.Records = append(e.Records, *r)
	}
	slices.SortFunc(e.Records, func(a, b planner.Record) int { return strings.Compare(string(a.Address), string(b.Address)) })
	return nil
}

// inOrder puts kinds that others name before these, and what the service numbers last.
func inOrder(kinds []*resource.Kind) []*resource.Kind {
	var list []*resource.Kind
	var visit func(k *resource.Kind)
	visit = func(k *resource.Kind) {
		if slices.Contains(list, k) || !slices.Contains(kinds, k) {
			return
		}
		for i := range k.Fields {
			if f := &k.Fields[i]; f.IsRef() && f.Ref != k.Name {
				visit(resource.MustLookup(f.Ref))
			}
		}
		list = append(list, k)
	}
	for _, k := range kinds {
		if !numbered(k) {
			visit(k)
		}
	}
	for _, k := range kinds {
		visit(k)
	}
	return list
}

func (e *Export) document(sections ...manifest.Entry) manifest.Map {
	document := manifest.Map{
		{Key: schema.Version, Value: manifest.Literal("1")},
		{Key: schema.Workspace, Value: e.workspace},
	}
	if e.baseURL != "" {
		document = append(document, manifest.Entry{Key: schema.Source, Value: manifest.Map{
			{Key: schema.BaseURL, Value: e.baseURL}, {Key: schema.Workspace, Value: e.workspace},
		}})
	}
	return append(document, sections...)
}

// signature tells the manifests of an export from others.
const signature = "Written by planform export."

func (e *Export) file(name, comment string, document manifest.Map) {
	header := "yaml-language-server: $schema=" + schema.ID + "\n" + comment + " " + signature
	e.Files = append(e.Files, File{name, manifest.Encode(header, document)})
}

// section is the list of things of a kind that live in a thing, or nothing.
func (e *Export) section(parent *object, k *resource.Kind) manifest.Map {
	things := parent.exports(k)
	if len(things) == 0 {
		return nil
	}
	objects := make([]any, len(things))
	for i, t := range things {
		objects[i] = e.object(t)
	}
	return manifest.Map{{Key: k.Section, Value: objects}}
}

// object is a thing with all that lives in it.
func (e *Export) object(t *object) manifest.Map {
	e.count(t.kind.Section)
	fields := e.fields(t)
	for _, k := range inOrder(resource.Children(t.kind.Name)) {
		fields = append(fields, e.section(t, k)...)
	}
	return fields
}

func (e *Export) count(section string) {
	for i := range e.Counts {
		if e.Counts[i].Name == section {
			e.Counts[i].Number++
			return
		}
	}
	e.Counts = append(e.Counts, Count{section, 1})
}

// record takes down what the state is to know of a thing.
func (e *Export) record(t *object, values map[string]string) {
	e.Records = append(e.Records, planner.Record{Address: t.address, ID: t.row.ID(), Identifier: t.identifier, Values: values})
}

// recordSources notes in which manifest the things stand of the records from first on.
func (e *Export) recordSources(first int, file string) {
	for i := range e.Records[first:] {
		e.Records[first+i].Sources = []string{file}
	}
}

// omit notes that something of a thing cannot be written.
func (e *Export) omit(t *object, what, why string) {
	l := omission{what, why, false}
	where := t.called()
	if t.identifier == "" && t.in.kind != nil {
		where += " in " + t.in.called()
	}
	e.omitted[l] = append(e.omitted[l], readOmission{where, 1})
}

// reportOmissions reports what was left out, the same of many things once.
func (e *Export) reportOmissions() {
	losses := make([]omission, 0, len(e.omitted))
	for l := range e.omitted {
		losses = append(losses, l)
	}
	slices.SortFunc(losses, func(a, b omission) int { return cmp.Or(strings.Compare(a.what, b.what), strings.Compare(a.why, b.why)) })
	for _, l := range losses {
		o := Omission{What: l.what, Why: l.why}
		for _, place := range e.omitted[l] {
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
	e.reportUnmanaged()
}

// text says what is left out.
func (l omission) text(o Omission) string {
	switch {
	case l.whole:
		return fmt.Sprintf("%s left out: %s (%s)", diag.Count(o.Count, l.what), l.why, firstFew(o.Examples))
	case o.Count > 1:
		return fmt.Sprintf("the %s of %d is left out: %s (%s)", l.what, o.Count, l.why, firstFew(o.Examples))
	default:
		return fmt.Sprintf("the %s of %s is left out: %s", l.what, firstFew(o.Examples), l.why)
	}
}

// reportUnmanaged notes what is not asked for, since no manifest could say it.
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
		e.findings.Add(diag.Diagnostic{Severity: diag.Note, Code: "not-looked-for", Summary: "not looked for, since a manifest cannot say it: " + strings.Join(beyond, "; ")})
	}
}

func warning(code, summary string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: code, Summary: summary}
}

// firstFew names the first few of many.
func firstFew(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func humanize(name string) string { return strings.ReplaceAll(name, "_", " ") }
