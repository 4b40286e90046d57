package manifest

import (
	"cmp"
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/schema"
)

// Options controls how manifests are read.
type Options struct {
	Stdin     io.Reader // the reader for "-"
	Dir       string    // the folder of file names in a manifest from standard input; "" = the current one
	Workspace string    // from a flag or the environment; overrides the document's
	// AllowEmpty accepts manifests without objects. They are the way to delete everything; without this option they are an error, because
	// they are more likely a mistake.
	AllowEmpty bool
	Limits     Limits
	Variables  map[string]string   // values of declared variables, by name
	Getenv     func(string) string // returns environment variables; "" = not set
	// Edited replaces the contents of files, by name: manifests by the name that the user gave, other files by their name in the manifest's
	// folder.
	Edited map[string][]byte
	// Origins records where the texts come from that references were replaced by.
	Origins bool
	// Offline also reports findings about objects to be created that otherwise a plan would report.
	Offline bool
}

// Manifest holds the objects and settings of all documents.
type Manifest struct {
	Owner             resource.Owner // "" = no document has one
	Workspace         string         // "" = neither the options nor a document have one
	WorkspacePosition diag.Position  // its position in a document; zero if the options have it
	Order             string         // one of [schema.Orders]; "" = no document has one
	// Objects holds parents before children, otherwise in the order in which they are written. A nested work item comes after the outer
	// one.
	Objects []*resource.Object
	Files   []string // the manifests that were read
	Skipped []string // files of folders that are not manifests
	Tables  []string // sorted names of the CSV files that were read
	// Environment holds the environment variables that the manifests read, by name.
	Environment map[string]string
	Dir         string // folder of the first manifest; "." for standard input
}

// RenameSources replaces the file names of all objects.
func (m *Manifest) RenameSources(names map[string]string) {
	for _, o := range m.Objects {
		var files []string
		for _, file := range o.Files {
			files = append(files, names[file])
		}
		o.Files = slices.Compact(slices.Sorted(slices.Values(files)))
	}
}

// Load reads, merges and checks manifests. Each name is a file, a folder or "-" for standard input. Of a folder, it reads the *.yaml and
// *.yml files that are manifests, sorted and without hidden ones. The findings are sorted by position. If one of them is an error, the
// manifest has no objects; otherwise it is complete.
func Load(ctx context.Context, names []string, opts Options) (*Manifest, diag.List) {
	m := &Manifest{Dir: "."}
	limits := opts.Limits.withDefaults()
	found := &findings{max: limits.Findings, reported: map[findingKey]bool{}}
	if len(names) == 0 {
		found.report(diag.Position{}, "", problem{"no-manifest", "no manifest is named", "name one with -f"})
	}
	given := &variables{
		values: opts.Variables, getenv: opts.Getenv,
		read: map[string]string{}, tables: map[string]*fileNode{}, readTables: map[string]bool{},
	}
	if given.getenv == nil {
		given.getenv = func(string) string { return "" }
	}
	files := sources(names, opts.Stdin, cmp.Or(opts.Dir, "."), found)
	r := &reader{
		files: files, given: given, kinds: everyKind(), budget: &budget{limits: limits}, found: found,
		complete: !found.hasErrors(), tellsOrigins: opts.Origins,
	}
	for i := 0; i < len(r.files); i++ { // includes make the list grow
		s := r.files[i]
		s.useEdits(opts.Edited)
		if i == 0 {
			m.Dir = filepath.Clean(s.dir)
		}
		if r.readSource(ctx, s) {
			m.Files = append(m.Files, s.name)
		} else {
			m.Skipped = append(m.Skipped, s.name)
		}
		s.close()
	}
	if len(m.Files) == 0 && len(m.Skipped) > 0 {
		none := problem{
			"no-manifest", "no YAML file of the folder is a manifest",
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
		if vs := schema.CheckDocument(map[string]any{schema.Workspace: opts.Workspace}); len(vs) > 0 {
			found.report(diag.Position{}, "", problem{"bad-workspace", quote(opts.Workspace) + " is not a workspace slug", slugHint})
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

// reader reads files, and holds the state of one call of Load.
type reader struct {
	files      []*source // to read, in this order
	inclusions []inclusion
	searched   int   // folder entries that were searched for includes and pages
	pageBytes  int64 // total size of the pages of folders
	all        collection
	given      *variables
	kinds      *kindSet
	budget     *budget
	found      *findings
	// tellsOrigins is set if the origins of replaced texts are recorded.
	tellsOrigins bool
	complete     bool // everything could be read, so an object that was not found is in no manifest
}

// readSource reads one file: it collects the objects of its documents and decodes them. It returns whether the file is a manifest.
func (r *reader) readSource(ctx context.Context, s *source) bool {
	first := len(r.all.items)
	p := &pass{reader: r, source: s, memo: map[*node][]*node{}}
	if r.tellsOrigins {
		p.origins = map[*node][]diag.Position{}
	}
	c := &collector{pass: p, made: map[*node]*element{}, pages: map[*node]*pageFile{}, declared: map[string]fileNode{}}
	anchors, complete := s.read(ctx, r.budget.limits, &r.budget.spent, r.found, c.addDocument)
	if complete && !c.isManifest() {
		return false
	}
	r.complete = r.complete && complete && !c.incomplete
	s.declared = c.declared
	for _, by := range c.includes {
		r.include(by)
	}
	if complete && c.hasContent && !c.hasVersion {
		r.found.report(diag.Position{File: s.name}, "",
			problem{"missing-version", "the manifest has no version", "begin it with version: 1"})
	}
	if r.all.tooManyObjects || r.budget.exceeded { // what exceeds a limit is not decoded
		r.all.items, r.complete = r.all.items[:first], false
	}
	d := &decoder{pass: p, freeNodes: !anchors && !c.expanded, files: []string{s.name}, unbound: map[string]*resource.Field{}}
	for i := first; i < len(r.all.items); i++ {
		it := &r.all.items[i]
		d.present = properties{pass: p, item: i, kind: it.kind}
		r.found.element = it.made
		d.decodeItem(it)
	}
	r.found.element = nil
	if r.budget.exceeded {
		r.budget.exceeded = false
		tooMany := problem{
			"alias-expansion", "the aliases of the file expand to too many elements",
			"use fewer aliases",
		}
		r.found.report(diag.Position{File: s.name}, "", tooMany)
	}
	return true
}

// emptyManifest returns the problem that no manifest has objects.
func emptyManifest(files int) problem {
	const hint = "list the contents of the workspace, for example under projects:"
	if files > 1 {
		return problem{"empty", "none of the " + diag.Count(files, "manifest") + " lists an object", hint}
	}
	return problem{"empty", "the manifest lists no objects", hint}
}

// item is one object of a document.
type item struct {
	object     *resource.Object
	kind       *kindInfo
	node       *node // a mapping, or the short text for one; nil after decoding
	source     *source
	line       int
	column     int
	parent     int // the item that contains it; -1 = the workspace
	outer      int // the item of the same kind that it is nested in, or -1
	index      int // index in its list
	document   int
	mergedInto int       // the item that it was merged into, or -1
	ok         bool      // decoded, and without an error in its own fields
	hasKey     bool      // the key is written
	merges     bool      // the mapping has merge keys
	made       *element  // the for_each element of the object; nil = no for_each
	page       *pageFile // the page file of the object; nil = it is written in a manifest
}

// items holds the objects of all documents.
type items []item

// listPath returns the path of a section in its document.
func (im items) listPath(parent, outer int, name string) string {
	switch {
	case outer >= 0:
		return im.path(outer) + "." + name
	case parent >= 0:
		return im.path(parent) + "." + name
	default:
		return name
	}
}

// path returns the path of an object in its document, such as projects[0].work_items[3].
func (im items) path(i int) string {
	it := &im[i]
	return im.listPath(it.parent, it.outer, it.kind.Section) + "[" + strconv.Itoa(it.index) + "]"
}

// objects returns the merged objects in their order, with the values and objects that they imply.
func (a *assembly) objects(kinds *kindSet) []*resource.Object {
	list, implied := make([]*resource.Object, 0, len(a.items)), []*resource.Object(nil)
	holders := map[objectKey]*resource.Object{} // objects with feature flags
	for _, it := range a.kept() {
		if it.kind.Singleton {
			holders[objectKey{kind: it.kind, parent: it.parent}] = it.object
		}
	}
	for _, it := range a.kept() {
		o := it.object
		if o.Source == nil { // otherwise Localize does it
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
		if f := o.Kind.UsedIn(); f != nil {
			imply(o.Parent, o, f, resource.Value{Text: o.Key, Refs: []resource.Reference{{Text: o.Key, Target: o, Position: o.Position}}})
		}
		list = append(list, o)
	}
	return append(list, implied...)
}

// imply adds a value that another object needs, unless the manifest sets the field. Examples are a feature flag such as cycle_view, or the
// estimate in use.
func imply(on, o *resource.Object, f *resource.Field, v resource.Value) {
	if on.Writes(f) {
		return
	}
	v.Field, v.Position = f, o.Position
	on.Values = insert(on, v)
}

// impliedHolder returns a new singleton beside an object. It holds the feature flag that the object needs.
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
