package manifest

import (
	"cmp"
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/schema"
)

// Options say what a manifest is read with.
type Options struct {
	Stdin     io.Reader // what "-" reads
	Dir       string    // the folder that files are named from there; "" = the current one
	Workspace string    // from a flag or the environment; overrides the document's
	// AllowEmpty takes manifests that hold nothing for what they say, as is wanted where
	// what they held before is to be deleted. Without it they are an error: a mistake is likelier.
	AllowEmpty bool
	Limits     Limits
	Variables  map[string]string   // values of variables that documents declare, by name
	Getenv     func(string) string // reads the environment variables that documents name; "" = not set
	// Edited is what files are taken to hold, by name, before it is written: manifests as they were named, others within
	// the manifest's folder.
	Edited map[string][]byte
	// Origins also tells where the texts stand that references lead to.
	Origins bool
	// Offline also reports what a plan would say of objects that are still to be created: nobody asks the service.
	Offline bool
}

// Manifest is what all documents together want.
type Manifest struct {
	Owner             resource.Owner // "" where no document names one
	Workspace         string         // "" where neither the options nor a document name one
	WorkspacePosition diag.Position  // where a document names it; zero if the options do
	Order             string         // one of [schema.Orders], "" where no document says it
	// Objects holds parents before children, otherwise in the order in which they are written.
	// A work item that is written inside another comes after it.
	Objects []*resource.Object
	Files   []string // what was read
	Skipped []string // files of folders that are no manifests
	Tables  []string // CSV files that they name and that were read, sorted
	// Environment holds the environment variables that the manifests name, by name.
	Environment map[string]string
	Dir         string // folder of the first manifest, "." for standard input
}

// RenameSources gives the manifests other names where the objects say in which they stand.
func (m *Manifest) RenameSources(names map[string]string) {
	for _, o := range m.Objects {
		var files []string
		for _, file := range o.Files {
			files = append(files, names[file])
		}
		o.Files = slices.Compact(slices.Sorted(slices.Values(files)))
	}
}

// Load reads, merges and checks manifests. Each name is a file, a directory
// (its *.yaml and *.yml, sorted, without hidden ones and those that are no manifests) or "-" for standard input. The findings are in
// the order of their places. Unless one of them is an error, the manifest is
// complete; otherwise it holds no objects.
func Load(ctx context.Context, names []string, opts Options) (*Manifest, diag.List) {
	m := &Manifest{Dir: "."}
	checker := schema.New()
	limits := opts.Limits.withDefaults()
	found := &findings{max: limits.Findings, told: map[findingKey]bool{}}
	if len(names) == 0 {
		found.report(diag.Position{}, "", problem{"no-manifest", "no manifest is named", "name one with -f"})
	}
	given := &variables{
		values: opts.Variables, getenv: opts.Getenv,
		read: map[string]string{}, tables: map[string]*value{}, readTables: map[string]bool{},
	}
	if given.getenv == nil {
		given.getenv = func(string) string { return "" }
	}
	files := sources(names, opts.Stdin, cmp.Or(opts.Dir, "."), found)
	r := &reader{
		files: files, given: given, kinds: everyKind(), checker: checker, budget: &budget{limits: limits}, found: found,
		complete: !found.hasErrors(), tellsOrigins: opts.Origins,
	}
	for i := 0; i < len(r.files); i++ { // which grow by what they include
		s := r.files[i]
		s.takeEdited(opts.Edited)
		if i == 0 {
			m.Dir = filepath.Clean(s.dir)
		}
		if r.file(ctx, s) {
			m.Files = append(m.Files, s.name)
		} else {
			m.Skipped = append(m.Skipped, s.name)
		}
		s.close()
	}
	if len(m.Files) == 0 && len(m.Skipped) > 0 {
		none := problem{
			"no-manifest", "no YAML file of the directory is a manifest",
			"a manifest has version: 1 and a section such as projects:",
		}
		found.report(diag.Position{File: names[0]}, "", none)
	}
	r.checkInclusions()
	if r.complete {
		given.checkDeclared(found)
	}
	m.Tables, m.Environment = slices.Sorted(maps.Keys(given.readTables)), given.read
	m.Workspace, m.WorkspacePosition = r.all.workspace.text, r.all.workspace.position
	m.Owner, m.Order = resource.Owner(r.all.owner.text), r.all.order.text
	if opts.Workspace != "" {
		m.Workspace, m.WorkspacePosition = opts.Workspace, diag.Position{}
		if vs := checker.CheckDocument(map[string]any{schema.Workspace: opts.Workspace}); len(vs) > 0 {
			found.report(diag.Position{}, "", problem{"bad-workspace", quote(opts.Workspace) + " is no workspace slug", slugHint})
		}
	}
	if err := ctx.Err(); err != nil {
		return m, diag.List{{Code: "interrupted", Summary: "reading was interrupted"}}
	}
	if !opts.AllowEmpty && r.complete && len(r.all.items) == 0 && len(files) > 0 && !found.hasErrors() {
		found.report(diag.Position{File: files[0].name}, "", emptyManifest(len(files)))
	}
	merged := merge(r.all.items, found)
	resolve(merged, r.kinds, r.complete, opts.Offline)
	merged.checkRelations()
	merged.checkCycles(r.kinds)
	merged.checkPreviously()
	if opts.Offline {
		merged.checkOffline()
	}
	if found.hasErrors() || ctx.Err() != nil {
		return m, found.diagnostics()
	}
	m.Objects = merged.objects(r.kinds)
	return m, found.diagnostics()
}

// reader reads files, and decodes what it finds in them.
type reader struct {
	files      []*source // to be read, in this order
	inclusions []inclusion
	searched   int   // entries of folders, for patterns of what is included, and for pages
	pageBytes  int64 // bytes of the pages of folders
	all        collection
	given      *variables
	kinds      *kindSet
	checker    *schema.Checker
	budget     *budget
	found      *findings
	// tellsOrigins is set if somebody wants to know where the texts stand that references lead to.
	tellsOrigins bool
	complete     bool // everything could be read: what is not there is in no manifest
}

// file reads one file: it collects the objects of its documents, then decodes them. It returns whether the file is a manifest.
func (r *reader) file(ctx context.Context, s *source) bool {
	first := len(r.all.items)
	p := &pass{reader: r, source: s, memo: map[*node][]*node{}}
	if r.tellsOrigins {
		p.origins = map[*node][]diag.Position{}
	}
	c := &collector{pass: p, made: map[*node]*element{}, pages: map[*node]*pageFile{}, declared: map[string]value{}}
	anchors, complete := s.read(ctx, r.budget.limits, &r.budget.spent, r.found, c.document)
	if complete && !c.isManifest() {
		return false
	}
	r.complete = r.complete && complete && !c.incomplete
	s.declared = c.declared
	for _, by := range c.includes {
		r.include(by)
	}
	if complete && c.notEmpty && !c.hasVersion {
		r.found.report(diag.Position{File: s.name}, "",
			problem{"missing-version", "the manifest does not say its version", "begin it with version: 1"})
	}
	if r.all.tooMany || r.budget.exceeded { // nothing is looked at that was not worth its memory
		r.all.items, r.complete = r.all.items[:first], false
	}
	d := &decoder{pass: p, freeNodes: !anchors && !c.expanded, files: []string{s.name}, unbound: map[string]*resource.Field{}}
	for i := first; i < len(r.all.items); i++ {
		it := &r.all.items[i]
		d.present = properties{pass: p, item: i, kind: it.kind}
		r.found.made = it.made
		d.item(it)
	}
	r.found.made = nil
	if r.budget.exceeded {
		r.budget.exceeded = false
		tooMany := problem{
			"alias-expansion", "the aliases of the file stand for too many elements",
			"write out what they stand for, or use fewer of them",
		}
		r.found.report(diag.Position{File: s.name}, "", tooMany)
	}
	return true
}

// emptyManifest reports that nothing is in any of the manifests.
func emptyManifest(files int) problem {
	const hint = "list the contents of the workspace, for example under projects:"
	if files > 1 {
		return problem{"empty", "there is nothing in any of the " + diag.Count(files, "manifest"), hint}
	}
	return problem{"empty", "there is nothing in the manifest", hint}
}

// item is one object as it was found in a document.
type item struct {
	object     *resource.Object
	kind       *kindInfo
	node       *node // a mapping, or the text that stands for one; nil once it is decoded
	source     *source
	line       int
	column     int
	parent     int // item that it lives in, -1 = the workspace
	outer      int // item of the same kind that it is written inside, or -1
	index      int // place in the list that it is written in
	document   int
	mergedInto int       // the item that it was merged into, or -1
	ok         bool      // it was decoded and nothing is wrong with its own fields
	hasKey     bool      // the key was written
	merges     bool      // the mapping has merge keys
	made       *element  // that it was made for; nil = it is written as it is
	page       *pageFile // that it is; nil = a manifest writes it
}

// items are the objects of all documents.
type items []item

// listPath is the path of a section in the document.
func (list items) listPath(parent, outer int, name string) string {
	switch {
	case outer >= 0:
		return list.path(outer) + "." + name
	case parent >= 0:
		return list.path(parent) + "." + name
	default:
		return name
	}
}

// path is the place of an object in its document, such as projects[0].work_items[3].
func (list items) path(i int) string {
	it := &list[i]
	return list.listPath(it.parent, it.outer, it.kind.Section) + "[" + strconv.Itoa(it.index) + "]"
}

// objects gives the objects in their order, each once.
func (a *assembly) objects(kinds *kindSet) []*resource.Object {
	list, implied := make([]*resource.Object, 0, len(a.items)), []*resource.Object(nil)
	holders := map[objectKey]*resource.Object{} // of switches, in what needs them
	for _, it := range a.kept() {
		if it.kind.Singleton {
			holders[objectKey{kind: it.kind, parent: it.parent}] = it.object
		}
	}
	for _, it := range a.kept() {
		o := it.object
		if o.Source == nil { // else it depends on where the manifest goes, see [Manifest.Localize]
			o.MoveHeader()
		}
		for _, s := range o.Switches() {
			if o.ID != "" {
				break
			}
			holder, on := s.Holder, o.Parent
			if holder.Singleton {
				at := objectKey{kind: kinds.byName[holder.Name], parent: it.parent}
				if holders[at] == nil {
					holders[at] = impliedHolder(holder, o)
					implied = append(implied, holders[at])
				}
				on = holders[at]
			}
			imply(on, o, s.Field, resource.Value{Text: "true"})
		}
		if o.Kind.UsedIn != "" {
			f, _ := o.Parent.Kind.Field(o.Kind.UsedIn)
			imply(o.Parent, o, f, resource.Value{Text: o.Key, Refs: []resource.Reference{{Text: o.Key, Target: o, Position: o.Position}}})
		}
		list = append(list, o)
	}
	return append(list, implied...)
}

// imply gives an object a value for a field, unless the manifest gives it: switches on what another needs, such as cycle_view,
// or names that as the one in use.
func imply(on, o *resource.Object, f *resource.Field, v resource.Value) {
	if on.Writes(f) {
		return
	}
	v.Field, v.Position = f, o.Position
	on.Values = insert(on, v)
}

// impliedHolder is the Singleton beside an object that holds the switch which the object needs.
func impliedHolder(k *resource.Kind, o *resource.Object) *resource.Object {
	key, _ := k.DefaultKey(nil)
	holder := &resource.Object{
		Kind: k, Key: key, Address: resource.NewAddress(k.Name, key), Parent: o.Parent, Position: o.Position, Files: o.Files, Implied: true,
	}
	if o.Parent != nil {
		holder.Address = o.Parent.Address.Child(k.Name, key)
	}
	return holder
}
