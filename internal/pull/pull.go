package pull

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/export"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/yamltext"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// Input is what there is, and how to look at it again.
type Input struct {
	Manifest *manifest.Manifest
	Plan     *planner.Plan
	Theirs   bool // in a conflict the service's value is taken
	// Read gives a file's text; Load reads the manifests as they would be with other texts, and Replan plans them.
	Read   func(file string) ([]byte, error)
	Load   func(edited map[string][]byte) (*manifest.Manifest, diag.List)
	Replan func(*manifest.Manifest) (*planner.Plan, diag.List, error)
}

// Result is what is to be written, and what is not.
type Result struct {
	Files    []File // that change, by name
	Values   []Value
	Findings diag.List // what is not taken, and why
}

// File is a file that changes.
type File struct {
	Name          string
	Within        string // of a page's text: the folder that it must be in; "" = it is a manifest
	Before, After []byte
	Values        int
}

// Value is a value that is taken.
type Value struct {
	Object        *resource.Object
	Path          string // of the field
	Position      diag.Position
	Before, After *string // nil = none

	field   *resource.Field // by which the manifest says it by now
	file    string
	origins []diag.Position // see [resource.Value]
}

// taker is one run.
type taker struct {
	Input

	result  Result
	texts   map[string][]byte         // of files as they are
	files   map[string]*yamltext.File // the manifests among them
	pages   *export.Pages
	places  map[diag.Position]int // values that are written there
	objects map[diag.Position]int // objects that are
	edits   map[string][]change
	renamed map[*resource.Object]renaming
	within  map[string]string     // folders of the files of pages
	sharing map[string]int        // objects of which a file is the text
	written map[string][]pageEdit // new texts of pages, and new titles
}

// pageEdit is an edit of a page's file.
type pageEdit struct {
	object  *resource.Object
	value   int // in the result
	isTitle bool
	text    string
}

// change is an edit for the sake of a value.
type change struct {
	yamltext.Edit

	value    int // in the result
	optional bool
	names    *planner.Divergence // of references, which name their targets as these are called by then
	follows  *resource.Reference // names what is renamed
}

// renaming is the new name of an object that people renamed.
type renaming struct {
	from, to string
	value    int // in the result
}

// Take makes the edits. An error is one of reading, or of planning again.
func Take(in Input) (*Result, error) {
	t := &taker{
		Input: in, texts: map[string][]byte{}, files: map[string]*yamltext.File{}, pages: pages(in.Plan, in.Manifest),
		places: map[diag.Position]int{}, objects: map[diag.Position]int{},
		edits: map[string][]change{}, renamed: map[*resource.Object]renaming{}, within: map[string]string{},
		sharing: map[string]int{}, written: map[string][]pageEdit{},
	}
	for _, o := range in.Manifest.Objects {
		t.objects[o.Position]++
		for i := range o.Values {
			v := &o.Values[i]
			if !v.Implied && !nested(o, v) {
				t.places[v.Position]++
			}
			if v.File != nil && v.Field.Type == resource.File {
				t.sharing[v.File.Path]++
			}
		}
	}
	for i := range in.Plan.Divergences {
		if err := t.take(&in.Plan.Divergences[i]); err != nil {
			return nil, err
		}
	}
	for _, d := range in.Plan.Drift { // such as a role: what is not taken is named
		if v, ok := d.Object.ValueAt(d.Change.Path); ok &&
			!slices.ContainsFunc(in.Plan.Divergences, func(other planner.Divergence) bool { return other.Value == v }) {
			t.refuse(&planner.Divergence{Object: d.Object, Value: v, Change: *d.Change}, "it is a part of the value")
		}
	}
	t.report()
	err := t.finish()
	return &t.result, err
}

// pages are those of the plan's objects.
func pages(plan *planner.Plan, m *manifest.Manifest) *export.Pages {
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

// nested reports whether a value follows from where its object is written, and is not written itself.
func nested(o *resource.Object, v *resource.Value) bool {
	return o.Outer != nil && v.Field.Name == o.Kind.ParentField
}

// shared is why a value is not taken that would change elsewhere, too.
const shared = "other objects share the value"

// take plans the edits for one divergence.
func (t *taker) take(d *planner.Divergence) error {
	o, v := d.Object, d.Value
	if (d.Conflict || d.Unknown) && !t.Theirs {
		t.conflict(d)
		return nil
	}
	if v.File != nil {
		return t.page(d)
	}
	if len(v.Origins) > 0 {
		t.refuse(d, "a variable or a table gives it")
		return nil
	}
	in, err := t.manifest(v.Position.File)
	if err != nil {
		return err
	}
	field, value, why := t.encode(d)
	written, isText := in.Text(v.Position.Line, v.Position.Column)
	switch {
	case why != "":
	case manifest.Refers(asText(value)) && t.refers(v.Position.File):
		why = "the manifest would take it for a reference"
	case nested(o, v):
		why = "it is written inside " + string(o.Outer.Address)
	case isText && !v.Null && strings.TrimSpace(written) != strings.TrimSpace(v.Text):
		why = "it is made of " + diag.Quote(strings.TrimSpace(written))
	}
	if why != "" {
		t.refuse(d, why)
		return nil
	}
	taken := Value{
		Object: o, Path: v.Field.Path(), Position: v.Position, Before: d.Change.After, After: d.Change.Before, field: field,
		file: v.Position.File,
	}
	at := len(t.result.Values)
	e := change{Edit: yamltext.Edit{Line: v.Position.Line, Column: v.Position.Column, Value: value}, value: at}
	follows := v.Position != o.Position && t.objects[v.Position] > 0 // from an object in it
	foreign := follows || t.places[v.Position] > 1 || v.Position.File == o.Position.File && v.Position.Compare(o.Position) < 0
	switch {
	case foreign && (t.objects[o.Position] > 1 || v.Field.Group != "" || v.Field.Definition != nil || v.Position.File != o.Position.File):
		t.refuse(d, shared)
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

// refers reports whether ${{ may mean something in a manifest, by itself or by what includes it.
func (t *taker) refers(file string) bool {
	return templated.Match(t.texts[file]) || slices.ContainsFunc(t.Manifest.Files, func(other string) bool {
		text, err := t.text(other)
		return err == nil && including.Match(text) && templated.Match(text)
	})
}

func asText(value any) string {
	text, _ := value.(string)
	return text
}

// encode is what the manifest is to say.
func (t *taker) encode(d *planner.Divergence) (field *resource.Field, value any, why string) {
	v := d.Value
	switch v.Field.Type {
	case resource.RefSet:
		l := yamltext.List{Add: t.words(d, d.Add), Whole: t.words(d, d.All)}
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
		return v.Field, wordList(v, strings.Split(shown, ",")), ""
	case resource.Ref:
		switch len(d.All) {
		case 0:
			return v.Field, nil, ""
		case 1:
			return v.Field, t.words(d, d.All)[0], ""
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

// wordList changes a list of words to what the service has.
func wordList(v *resource.Value, shown []string) (l yamltext.List) {
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

// words are the names of references as the manifests will have them: a target that is renamed has its new name by then, or
// its key where that is not clear.
func (t *taker) words(d *planner.Divergence, names []string) []string {
	words := slices.Clone(names)
	for i, name := range words {
		o := d.Named[name]
		new, renamed := t.renamed[o]
		switch {
		case o == nil || !renamed || t.result.Values[new.value].Object == nil || name != new.from:
		case t.isClear(o, new.to):
			words[i] = new.to
		default:
			words[i] = o.Key
		}
	}
	return words
}

// isClear reports whether a new name means one object only.
func (t *taker) isClear(o *resource.Object, name string) bool {
	return !resource.IsID(name) && name != resource.Me && !slices.ContainsFunc(t.Manifest.Objects, func(other *resource.Object) bool {
		return other != o && other.Kind == o.Kind && other.Parent == o.Parent && (other.Key == name || t.renamed[other].to == name ||
			slices.ContainsFunc(o.Kind.NaturalKey, func(field string) bool { return strings.EqualFold(other.Text(field), name) }))
	})
}

// keepKey lets an object that is renamed keep the key that came from its name, and what refers to it by that name.
func (t *taker) keepKey(d *planner.Divergence, name string, value int) {
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
	t.renamed[o] = renaming{v.Text, name, value}
	for _, other := range t.Manifest.Objects {
		for i := range other.Values {
			for k := range other.Values[i].Refs {
				if r := &other.Values[i].Refs[k]; r.Target == o && r.Text == v.Text && r.Text != o.Key && !t.isMade(r) {
					t.edits[r.Position.File] = append(t.edits[r.Position.File],
						change{Edit: yamltext.Edit{Line: r.Position.Line, Column: r.Position.Column}, value: value, follows: r})
				}
			}
		}
	}
}

// isMade reports whether a reference to an object is made of references to values, which may follow by themselves.
func (t *taker) isMade(r *resource.Reference) bool {
	in, err := t.manifest(r.Position.File)
	if err != nil {
		return false
	}
	text, ok := in.Text(r.Position.Line, r.Position.Column)
	return ok && strings.TrimSpace(text) != strings.TrimSpace(r.Text)
}

func (t *taker) text(file string) ([]byte, error) {
	if text, ok := t.texts[file]; ok {
		return text, nil
	}
	text, err := t.Read(file)
	t.texts[file] = text
	return text, err
}

// manifest is a manifest to edit.
func (t *taker) manifest(file string) (*yamltext.File, error) {
	if f, ok := t.files[file]; ok {
		return f, nil
	}
	text, err := t.text(file)
	if err == nil {
		t.files[file], err = yamltext.Read(text)
	}
	return t.files[file], err
}

// finish makes the edits, and looks at the result until nothing is wrong with it, each time without the values that are to blame.
func (t *taker) finish() error {
	for {
		edited, refused, err := t.edited(len(t.result.Values))
		if err != nil {
			return err
		}
		bad := fault{values: refused}
		if len(refused) == 0 && len(edited) > 0 {
			if bad, err = t.check(edited, len(t.result.Values)); err == nil && bad.why != "" {
				bad, err = t.narrow(bad.why)
			}
			if err != nil {
				return err
			}
		}
		if !bad.found() {
			t.keep(edited)
			return nil
		}
		for _, value := range slices.Sorted(maps.Keys(bad.values)) {
			t.drop(value, bad.values[value])
		}
	}
}

// edited are the files with the first values of the result, and why not some of them.
func (t *taker) edited(first int) (edited map[string][]byte, refused map[int]string, err error) {
	edited, refused = map[string][]byte{}, map[int]string{}
	for file, edits := range t.written {
		edits = slices.DeleteFunc(slices.Clone(edits), func(e pageEdit) bool { return e.value >= first })
		if len(edits) > 0 {
			edited[file] = rewritten(t.texts[file], edits)
		}
	}
	leaving := map[diag.Position]bool{} // references that the values do without
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
				if c.Value = t.renamed[o].to; !t.isClear(o, t.renamed[o].to) {
					c.Value = o.Key
				}
			case c.names != nil:
				_, c.Value, _ = t.encode(c.names)
			}
			list, of = append(list, c.Edit), append(of, c)
		}
		if len(list) == 0 {
			continue
		}
		in, err := t.manifest(file)
		if err != nil {
			return nil, nil, err
		}
		text, errs := in.Apply(list)
		for i, err := range errs {
			if err != nil && (!of[i].optional || !errors.Is(err, yamltext.ErrKeyExists)) {
				refused[of[i].value] = err.Error()
				if errors.Is(err, yamltext.ErrKeyExists) { // the value is behind an anchor of the object
					refused[of[i].value] = shared
				}
			}
		}
		edited[file] = text
	}
	return edited, refused, nil
}

// drop removes a value from the result, with its edits.
func (t *taker) drop(value int, why string) {
	for file := range t.edits {
		t.edits[file] = slices.DeleteFunc(t.edits[file], func(c change) bool { return c.value == value })
		if len(t.edits[file]) == 0 {
			delete(t.edits, file)
		}
	}
	v := &t.result.Values[value]
	t.written[v.file] = slices.DeleteFunc(t.written[v.file], func(e pageEdit) bool { return e.value == value })
	if v.Object != nil {
		t.notTaken(v, why)
	}
	v.Object = nil // the others keep their places
}

// keep has the result.
func (t *taker) keep(edited map[string][]byte) {
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
