package manifest

import (
	"context"
	"io"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/schema"
)

// Options say what a manifest is read with.
type Options struct {
	Stdin     io.Reader // what "-" reads
	Workspace string    // from a flag or the environment; overrides the document's
	// AllowEmpty takes manifests that hold nothing for what they say, as is wanted where
	// what they held before is to be deleted. Without it they are an error: a mistake is likelier.
	AllowEmpty bool
	Limits     Limits
}

// Manifest is what all documents together want.
type Manifest struct {
	Workspace         string        // "" where neither the options nor a document name one
	WorkspacePosition diag.Position // where a document names it; zero if the options do
	// Objects holds things after what they live in, otherwise in the order in which they are written.
	// A work item that is written inside another comes after it.
	Objects []*resource.Object
	Files   []string // what was read
	Dir     string   // folder of the first manifest, "." for standard input
}

// RenameSources gives the manifests other names where the objects say in which they stand.
func (m *Manifest) RenameSources(names map[string]string) {
	lists := map[*string][]string{}
	for _, o := range m.Objects {
		if len(o.Files) == 0 {
			continue
		}
		list, made := lists[&o.Files[0]]
		if !made {
			for _, file := range o.Files {
				list = append(list, names[file])
			}
			slices.Sort(list)
			list = slices.Compact(list)
			lists[&o.Files[0]] = list
		}
		o.Files = list
	}
}

// Load reads, merges and checks manifests. Each name is a file, a directory
// (its *.yaml and *.yml, sorted) or "-" for standard input. The findings are in
// the order of their places. Unless one of them is an error, the manifest is
// complete; otherwise it holds no objects.
func Load(ctx context.Context, names []string, opts Options) (*Manifest, diag.List) {
	go schema.New() //nolint:errcheck // the error is met below; meanwhile the first file is decoded
	limits := opts.Limits.withDefaults()
	r := &reader{
		limits: limits,
		kinds:  newKindSet(),
		found:  findings{max: limits.Findings},
		flat:   map[*node][]*node{},
	}
	r.identifiers = r.kinds.identifiers()
	m := &Manifest{Dir: "."}
	r.sources = sources(names, opts.Stdin, &r.found)
	r.incomplete = r.found.hasErrors()
	defer func() {
		for _, s := range r.sources {
			s.close()
		}
	}()
	if len(names) == 0 {
		r.found.add(finding{Diagnostic: diag.Diagnostic{Code: "no-manifest", Summary: "no manifest is named", Hint: "name one with -f"}})
	}
	for i, s := range r.sources {
		m.Files = append(m.Files, s.name)
		if i == 0 {
			m.Dir = filepath.Clean(s.dir)
		}
		r.readFile(ctx, s)
	}
	m.Workspace, m.WorkspacePosition = r.workspace.text, r.workspace.position
	checker, err := schema.New()
	if err != nil {
		return m, diag.List{{Code: "schema", Summary: err.Error()}}
	}
	if opts.Workspace != "" {
		m.Workspace, m.WorkspacePosition = opts.Workspace, diag.Position{}
		if vs := checker.CheckDocument(map[string]any{schema.Workspace: opts.Workspace}); len(vs) > 0 {
			r.found.add(finding{Diagnostic: diag.Diagnostic{
				Code: "bad-workspace", Summary: "\"" + clip(opts.Workspace) + "\" is no workspace slug",
				Hint: "take the slug as the workspace's web address shows it: letters, digits, - and _",
			}})
		}
	}
	if err := ctx.Err(); err != nil {
		return m, diag.List{{Code: "interrupted", Summary: "reading was interrupted"}}
	}
	r.empty(opts.AllowEmpty)
	r.assemble()
	r.resolve()
	r.cycles()
	r.checkPreviously()
	failed := r.found.hasErrors()
	list := r.found.diagnostics()
	if failed || ctx.Err() != nil {
		return m, list
	}
	m.Objects = r.ordered()
	return m, list
}

// reader holds what one call of Load gathers.
type reader struct {
	limits      Limits
	checker     *schema.Checker
	kinds       *kindSet
	identifiers map[string]*regexp.Regexp
	found       findings
	sources     []*source
	spent       spending
	expanded    int64 // elements reached through aliases and merge keys
	tooMany     bool  // the limit on them was passed, and told
	workspace   written
	origins     []*resource.Source // by document: where it comes from; nil = not said
	full        bool               // there are too many things for the size of the manifests, and that was told
	holds       bool               // the file that is being read holds anything
	versioned   bool               // it says its version
	incomplete  bool               // something could not be read, so what is not there may still be in a manifest

	items []item
	flat  map[*node][]*node // mappings with merge keys, merged; of the file that is being read

	index map[objectKey]int // of items
	known map[identityKey]int
}

// written is a text and its place.
type written struct {
	text     string
	position diag.Position
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
	mergedInto int  // the item that it was merged into, or -1
	ok         bool // it was decoded and nothing is wrong with its own fields
	hasKey     bool // the key was written
	merges     bool // the mapping has merge keys
}

// readFile reads one file: the documents one after another, their objects on all cores.
func (r *reader) readFile(ctx context.Context, s *source) {
	first := len(r.items)
	clear(r.flat)
	r.holds, r.versioned = false, false
	m := merger{source: s, found: &r.found, memo: r.flat, expand: r.expand}
	anchors, complete := s.read(ctx, r.limits, &r.spent, &r.found, func(root *node, things int) {
		const most = 1 << 20 // a guess is not worth more room
		if more := min(things, most) - (len(r.items) - first); more > 0 {
			r.items = slices.Grow(r.items, more)
		}
		if r.checker, _ = schema.New(); r.checker == nil {
			return // told at the end
		}
		w := &walker{reader: r, merger: m, found: &r.found, source: s}
		w.document(root)
	})
	r.incomplete = r.incomplete || !complete
	if complete && r.holds && !r.versioned {
		r.found.add(finding{Diagnostic: diag.Diagnostic{
			Code: "missing-version", Position: diag.Position{File: s.name}, Summary: "the manifest does not say its version", Hint: "begin it with version: 1",
		}})
	}
	if r.full || r.tooMany { // nothing is looked at that was not worth its memory
		r.items, r.incomplete = r.items[:first], true
	}
	r.decode(s, first, !anchors)
	if r.tooMany {
		r.tooMany = false
		r.found.add(finding{Diagnostic: diag.Diagnostic{
			Code: "alias-expansion", Position: diag.Position{File: s.name},
			Summary: "the aliases of the file stand for too many elements", Hint: "write out what they stand for, or use fewer of them",
		}})
	}
}

// empty reports that nothing is in any of the manifests, unless that may be.
func (r *reader) empty(allowed bool) {
	if allowed || r.incomplete || len(r.items) > 0 || len(r.sources) == 0 || r.found.hasErrors() {
		return
	}
	summary := "there is nothing in the manifest"
	if len(r.sources) > 1 {
		summary = "there is nothing in any of the " + diag.Count(len(r.sources), "manifest")
	}
	r.found.add(finding{Diagnostic: diag.Diagnostic{
		Code: "empty", Position: diag.Position{File: r.sources[0].name}, Summary: summary,
		Hint: "list the contents of the workspace, for example under projects:; to delete everything that earlier manifests created, use --prune",
	}})
}

// expand counts what aliases and merge keys add, and reports whether it is still within the limit.
func (r *reader) expand(elements int) bool {
	limit := int64(r.limits.Expanded)
	if limit <= 0 {
		limit = 100_000 + 2*int64(r.spent.elements)
	}
	r.expanded += int64(elements)
	r.tooMany = r.tooMany || r.expanded > limit
	return r.expanded <= limit
}

// ordered gives the objects, those that were merged only once.
func (r *reader) ordered() []*resource.Object {
	list := make([]*resource.Object, 0, len(r.items))
	for i := range r.items {
		if r.items[i].mergedInto < 0 {
			o := r.items[i].object
			list = append(list, o)
			if o.Kind.RequiresFeature != "" && o.ID == "" && o.Parent != nil {
				switchOn(o.Parent, o)
			}
		}
	}
	return list
}

// switchOn makes a thing want the feature without which another cannot be made in it, unless it says otherwise.
func switchOn(parent, needs *resource.Object) {
	f, ok := parent.Kind.Field(needs.Kind.RequiresFeature)
	if !ok || parent.Writes(f) {
		return
	}
	at := slices.IndexFunc(parent.Values, func(v resource.Value) bool { return fieldIndex(parent.Kind, v.Field) > fieldIndex(parent.Kind, f) })
	if at < 0 {
		at = len(parent.Values)
	}
	parent.Values = slices.Insert(slices.Clip(parent.Values), at, resource.Value{Field: f, Text: "true", Position: needs.Position})
}

func fieldIndex(k *resource.Kind, f *resource.Field) int {
	return slices.IndexFunc(k.Fields, func(other resource.Field) bool { return other.Name == f.Name })
}
