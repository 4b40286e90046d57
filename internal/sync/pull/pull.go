package pull

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plan/divergence"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sync/export"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// Input is the manifests, their plan, the differences, and functions to read and plan them again.
type Input struct {
	Manifest *manifest.Manifest
	Plan     *planner.Plan
	// Differences holds the changes of people on the service, as the plan's reads show them.
	Differences divergence.Set
	Theirs      bool // the service's value wins a conflict
	// Read returns a file's text; Load reads the manifests with edited texts, and Replan plans them.
	Read   func(file string) ([]byte, error)
	Load   func(edited map[string][]byte) (*manifest.Manifest, diag.List)
	Replan func(*manifest.Manifest) (*planner.Plan, divergence.Set, diag.List, error)
}

// Result holds the files to write, the values that were taken, and the reasons for the others.
type Result struct {
	Files    []File // that change, sorted by name
	Values   []Value
	Findings diag.List // values that are not taken, and why
}

// File is a file that changes.
type File struct {
	Name          string
	Within        string // folder that must contain the file of a page; "" = the file is a manifest
	Before, After []byte
	Values        int
}

// Value is a value that is taken.
type Value struct {
	Object        *resource.Object
	Path          string // of the field
	Position      diag.Position
	Before, After *string // nil = none

	field   *resource.Field // with which the manifest gives the value after the edit
	file    string
	origins []diag.Position // see [resource.Value]
}

// taker edits the manifest so that it has the values that people changed on the service, in one run of planform pull.
type taker struct {
	Input

	result    Result
	texts     map[string][]byte         // original texts of files
	files     map[string]*yamltext.File // the manifests among them
	pages     *export.Pages
	valuesAt  map[diag.Position]int // number of values at a position
	objectsAt map[diag.Position]int // number of objects at a position
	edits     map[string][]change
	renamings map[*resource.Object]renaming
	within    map[string]string     // folders of the files of pages
	pageUsers map[string]int        // number of objects whose text is in a file
	pageEdits map[string][]pageEdit // new texts of pages, and new titles
}

// pageEdit is an edit of a page's file.
type pageEdit struct {
	object  *resource.Object
	value   int // in the result
	isTitle bool
	text    string
}

// change is an edit of a manifest that a value needs.
type change struct {
	yamltext.Edit

	value    int // in the result
	optional bool
	names    *divergence.Field   // of references; the edit uses the new names of renamed targets
	follows  *resource.Reference // reference to a renamed object, which the edit renames
}

// renaming is the new name of an object that people renamed.
type renaming struct {
	from, to string
	value    int // in the result
}

// Take makes the edits. An error means that reading, or planning again, failed.
func Take(in Input) (*Result, error) {
	t := &taker{
		Input: in, texts: map[string][]byte{}, files: map[string]*yamltext.File{}, pages: webPages(in.Plan, in.Manifest),
		valuesAt: map[diag.Position]int{}, objectsAt: map[diag.Position]int{},
		edits: map[string][]change{}, renamings: map[*resource.Object]renaming{}, within: map[string]string{},
		pageUsers: map[string]int{}, pageEdits: map[string][]pageEdit{},
	}
	for _, o := range in.Manifest.Objects {
		t.objectsAt[o.Position]++
		for i := range o.Values {
			v := &o.Values[i]
			if !v.Implied && !isNested(o, v) {
				t.valuesAt[v.Position]++
			}
			if v.File != nil && v.Field.Type == resource.File {
				t.pageUsers[v.File.Path]++
			}
		}
	}
	for i := range in.Differences.Fields {
		if err := t.take(&in.Differences.Fields[i]); err != nil {
			return nil, err
		}
	}
	for _, d := range in.Plan.Drift { // such as a role: the user must know that it is not taken
		if v, ok := d.Object.ValueAt(d.Change.Path); ok &&
			!slices.ContainsFunc(in.Differences.Fields, func(other divergence.Field) bool { return other.Value == v }) {
			t.addRefusal(&divergence.Field{Object: d.Object, Value: v, Difference: planner.Difference{Change: *d.Change}}, "it is a part of the value")
		}
	}
	t.reportObjects()
	err := t.applyAll()
	return &t.result, err
}

// webPages returns the web addresses of the manifest's objects that have an ID, so that links to
// them can be written as references.
func webPages(plan *planner.Plan, m *manifest.Manifest) *export.Pages {
	p := export.NewPages(plan.WebURL, plan.Workspace)
	for _, o := range m.Objects {
		params := map[string]string{"workspace_slug": plan.Workspace}
		known := true
		for at := o; at != nil; at = at.Parent {
			params[at.Kind.Param] = plan.Known[at.Address].ID
			known = known && plan.Known[at.Address].ID != ""
		}
		if known {
			p.Add(o.Kind, o.Address, o.Kind.Page(plan.WebURL, params), plan.Known[o.Address].Identifier)
		}
	}
	return p
}

// isNested reports whether a value follows from the place of its object and is not written itself.
func isNested(o *resource.Object, v *resource.Value) bool {
	return o.Outer != nil && v.Field.Name == o.Kind.ParentField
}

// whyShared is the reason why a value is not taken if its edit would change other objects.
const whyShared = "other objects share the value"

// take plans the edits for one divergence.
func (t *taker) take(d *divergence.Field) error {
	o, v := d.Object, d.Value
	if (d.Conflict || d.Unknown) && !t.Theirs {
		t.addConflict(d)
		return nil
	}
	if v.File != nil {
		return t.takePage(d)
	}
	if len(v.Origins) > 0 {
		t.addRefusal(d, "a variable or a table gives it")
		return nil
	}
	in, err := t.manifestFile(v.Position.File)
	if err != nil {
		return err
	}
	field, value, why := t.encodeValue(d)
	written, isText := in.Text(v.Position.Line, v.Position.Column)
	switch {
	case why != "":
	case manifest.Refers(asText(value)) && t.hasReferences(v.Position.File):
		why = "the manifest would take it for a reference"
	case isNested(o, v):
		why = "it is written inside " + string(o.Outer.Address)
	case isText && !v.Null && strings.TrimSpace(written) != strings.TrimSpace(v.Text):
		why = "it is made of " + diag.Quote(strings.TrimSpace(written))
	}
	if why != "" {
		t.addRefusal(d, why)
		return nil
	}
	taken := Value{
		Object: o, Path: v.Field.Path(), Position: v.Position, Before: d.Change.After, After: d.Change.Before, field: field,
		file: v.Position.File,
	}
	at := len(t.result.Values)
	e := change{Edit: yamltext.Edit{Line: v.Position.Line, Column: v.Position.Column, Value: value}, value: at}
	follows := v.Position != o.Position && t.objectsAt[v.Position] > 0 // the value comes from an object inside this one
	foreign := follows || t.valuesAt[v.Position] > 1 || v.Position.File == o.Position.File && v.Position.Compare(o.Position) < 0
	switch {
	case foreign && (t.objectsAt[o.Position] > 1 || v.Field.Group != "" || v.Field.Definition != nil || v.Position.File != o.Position.File):
		t.addRefusal(d, whyShared)
		return nil
	case foreign:
		e.Line, e.Column, e.Insert, e.Key, e.Bare = o.Position.Line, o.Position.Column, true, field.Name, o.Kind.Short
	case field != v.Field:
		e.Key = field.Name
	}
	if v.Field.IsRef() {
		e.names = d
	}
	t.result.Values = append(t.result.Values, taken)
	t.edits[taken.file] = append(t.edits[taken.file], e)
	if name := asText(value); name != "" && !foreign {
		t.keepKey(d, name, at)
	}
	return nil
}

var (
	templated = regexp.MustCompile(`\b(vars|for_each)["']?[ \t]*:`)
	including = regexp.MustCompile(`\binclude["']?[ \t]*:`)
)

// hasReferences reports whether ${{ has a meaning in a manifest, by itself or through a manifest that includes it.
func (t *taker) hasReferences(file string) bool {
	return templated.Match(t.texts[file]) || slices.ContainsFunc(t.Manifest.Files, func(other string) bool {
		text, err := t.readText(other)
		return err == nil && including.Match(text) && templated.Match(text)
	})
}

func asText(value any) string {
	text, _ := value.(string)
	return text
}

// encodeValue returns the field and the value for the manifest, or why there is none.
func (t *taker) encodeValue(d *divergence.Field) (field *resource.Field, value any, why string) {
	v := d.Value
	switch v.Field.Type {
	case resource.RefSet:
		l := yamltext.List{Add: t.namesOf(d, d.Add), Whole: t.namesOf(d, d.All)}
		for _, k := range d.Drop {
			at := v.Refs[k].Position
			l.Drop = append(l.Drop, yamltext.Place{Line: at.Line, Column: at.Column})
			if at.File != v.Position.File {
				why = "its members are not all written here"
			}
		}
		return v.Field, l, why
	case resource.EnumSet:
		shown, _ := v.Field.ObservedIn(d.Row)
		return v.Field, editWords(v, strings.Split(shown, ",")), ""
	case resource.Ref:
		switch len(d.All) {
		case 0:
			return v.Field, nil, ""
		case 1:
			return v.Field, t.namesOf(d, d.All)[0], ""
		}
		return v.Field, nil, "it is in several: " + strings.Join(d.All, ", ")
	default:
		field, value, why = export.Encode(d.Object.Kind, v, d.Row, t.pages)
		if _, isMap := value.(manifest.Map); isMap && why == "" {
			why = "it is a mapping"
		}
		return field, value, why
	}
}

// editWords returns the edit that turns a list of words into the service's list.
func editWords(v *resource.Value, shown []string) (l yamltext.List) {
	for _, word := range v.Words {
		if at := word.Position; !slices.Contains(shown, word.Text) {
			l.Drop = append(l.Drop, yamltext.Place{Line: at.Line, Column: at.Column})
		}
	}
	for _, word := range shown {
		if word == "" {
			continue
		}
		l.Whole = append(l.Whole, word)
		if !slices.ContainsFunc(v.Words, func(w resource.Reference) bool { return w.Text == word }) {
			l.Add = append(l.Add, word)
		}
	}
	return l
}

// namesOf returns the names of references for the edited manifests. A renamed target gets its new name, or
// its key if the new name is not unique.
func (t *taker) namesOf(d *divergence.Field, names []string) []string {
	words := slices.Clone(names)
	for i, name := range words {
		o := d.Named[name]
		new, renamed := t.renamings[o]
		switch {
		case o == nil || !renamed || t.result.Values[new.value].Object == nil || name != new.from:
		case t.isUnique(o, new.to):
			words[i] = new.to
		default:
			words[i] = o.Key
		}
	}
	return words
}

// isUnique reports whether a new name means only one object.
func (t *taker) isUnique(o *resource.Object, name string) bool {
	return !resource.IsID(name) && name != resource.Me && !slices.ContainsFunc(t.Manifest.Objects, func(other *resource.Object) bool {
		return other != o && other.Kind == o.Kind && other.Parent == o.Parent && (other.Key == name || t.renamings[other].to == name ||
			slices.ContainsFunc(o.Kind.NaturalKey, func(field string) bool { return strings.EqualFold(other.Text(field), name) }))
	})
}

// keepKey lets a renamed object keep the key that came from its name, and renames references to it.
func (t *taker) keepKey(d *divergence.Field, name string, value int) {
	o, v := d.Object, d.Value
	if !slices.Contains(o.Kind.NaturalKey, v.Field.Name) {
		return
	}
	if v.File == nil && resource.Slug(v.Text) == o.Key && resource.Slug(name) != o.Key {
		t.edits[v.Position.File] = append(t.edits[v.Position.File], change{
			Edit:  yamltext.Edit{Line: o.Position.Line, Column: o.Position.Column, Insert: true, Key: "key", Value: o.Key, Bare: o.Kind.Short},
			value: value, optional: true,
		})
	}
	t.renamings[o] = renaming{v.Text, name, value}
	for _, other := range t.Manifest.Objects {
		for i := range other.Values {
			for k := range other.Values[i].Refs {
				if r := &other.Values[i].Refs[k]; r.Target == o && r.Text == v.Text && r.Text != o.Key && !t.isComposed(r) {
					t.edits[r.Position.File] = append(t.edits[r.Position.File],
						change{Edit: yamltext.Edit{Line: r.Position.Line, Column: r.Position.Column}, value: value, follows: r})
				}
			}
		}
	}
}

// isComposed reports whether a reference to an object contains references to values, which may change with these values.
func (t *taker) isComposed(r *resource.Reference) bool {
	in, err := t.manifestFile(r.Position.File)
	if err != nil {
		return false
	}
	text, ok := in.Text(r.Position.Line, r.Position.Column)
	return ok && strings.TrimSpace(text) != strings.TrimSpace(r.Text)
}

func (t *taker) readText(file string) ([]byte, error) {
	if text, ok := t.texts[file]; ok {
		return text, nil
	}
	text, err := t.Read(file)
	t.texts[file] = text
	return text, err
}

// manifestFile returns a manifest to edit.
func (t *taker) manifestFile(file string) (*yamltext.File, error) {
	if f, ok := t.files[file]; ok {
		return f, nil
	}
	text, err := t.readText(file)
	if err == nil {
		t.files[file], err = yamltext.Read(text)
	}
	return t.files[file], err
}

// applyAll makes the edits and checks the result. It repeats this without the values to blame until nothing is wrong.
func (t *taker) applyAll() error {
	for {
		edited, refused, err := t.applyFirst(len(t.result.Values))
		if err != nil {
			return err
		}
		bad := fault{values: refused}
		if len(refused) == 0 && len(edited) > 0 {
			if bad, err = t.check(edited, len(t.result.Values)); err == nil && bad.why != "" {
				bad, err = t.bisect(bad.why)
			}
			if err != nil {
				return err
			}
		}
		if !bad.isFault() {
			t.setFiles(edited)
			return nil
		}
		for _, value := range slices.Sorted(maps.Keys(bad.values)) {
			t.dropValue(value, bad.values[value])
		}
	}
}

// applyFirst returns the files with the first values of the result, and the values that could not be written, with reasons.
func (t *taker) applyFirst(first int) (edited map[string][]byte, refused map[int]string, err error) {
	edited, refused = map[string][]byte{}, map[int]string{}
	for file, edits := range t.pageEdits {
		edits = slices.DeleteFunc(slices.Clone(edits), func(e pageEdit) bool { return e.value >= first })
		if len(edits) > 0 {
			edited[file] = rewritePage(t.texts[file], edits)
		}
	}
	leaving := map[diag.Position]bool{} // references that the new values no longer have
	for _, changes := range t.edits {
		for _, c := range changes {
			if c.names == nil || c.value >= first {
				continue
			}
			for k, r := range c.names.Value.Refs {
				leaving[r.Position] = leaving[r.Position] || c.names.Value.Field.Type == resource.Ref || slices.Contains(c.names.Drop, k)
			}
		}
	}
	for file, changes := range t.edits {
		var list []yamltext.Edit
		var of []change
		for _, c := range changes {
			switch {
			case c.value >= first, c.follows != nil && leaving[c.follows.Position]:
				continue
			case c.follows != nil:
				o := c.follows.Target
				if c.Value = t.renamings[o].to; !t.isUnique(o, t.renamings[o].to) {
					c.Value = o.Key
				}
			case c.names != nil:
				_, c.Value, _ = t.encodeValue(c.names)
			}
			list, of = append(list, c.Edit), append(of, c)
		}
		if len(list) == 0 {
			continue
		}
		in, err := t.manifestFile(file)
		if err != nil {
			return nil, nil, err
		}
		text, errs := in.Apply(list)
		for i, err := range errs {
			if err != nil && (!of[i].optional || !errors.Is(err, yamltext.ErrKeyExists)) {
				refused[of[i].value] = err.Error()
				if errors.Is(err, yamltext.ErrKeyExists) { // the object gets the value from an anchor
					refused[of[i].value] = whyShared
				}
			}
		}
		edited[file] = text
	}
	return edited, refused, nil
}

// dropValue removes a value from the result, with its edits.
func (t *taker) dropValue(value int, why string) {
	for file := range t.edits {
		t.edits[file] = slices.DeleteFunc(t.edits[file], func(c change) bool { return c.value == value })
		if len(t.edits[file]) == 0 {
			delete(t.edits, file)
		}
	}
	v := &t.result.Values[value]
	t.pageEdits[v.file] = slices.DeleteFunc(t.pageEdits[v.file], func(e pageEdit) bool { return e.value == value })
	if v.Object != nil {
		t.addNotTaken(v, why)
	}
	v.Object = nil // the other values keep their indexes
}

// setFiles puts the edited files into the result.
func (t *taker) setFiles(edited map[string][]byte) {
	t.result.Values = slices.DeleteFunc(t.result.Values, func(v Value) bool { return v.Object == nil })
	for file, text := range edited {
		f := File{Name: file, Within: t.within[file], Before: t.texts[file], After: text}
		for i := range t.result.Values {
			if t.result.Values[i].file == file {
				f.Values++
			}
		}
		t.result.Files = append(t.result.Files, f)
	}
	slices.SortFunc(t.result.Files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(t.result.Values, func(a, b Value) int { return a.Position.Compare(b.Position) })
}
