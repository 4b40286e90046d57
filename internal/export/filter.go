package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// asked reports whether a word of the user means the kind.
func asked(words []string, k *resource.Kind) bool {
	names := []string{k.Name, k.Section}
	if m := k.Membership; m != nil {
		f, _ := resource.MustLookup(m.On).Field(m.Field)
		names = append(names, m.Field, f.Group)
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return w != "" && slices.Contains(names, strings.ReplaceAll(strings.ToLower(w), "-", "_"))
	})
}

// costly reports whether reading objects or members of the kind takes a request for each work item.
func costly(k *resource.Kind) bool {
	if m := k.Membership; m != nil {
		return resource.MustLookup(m.Container).Numbered()
	}
	return k.Parent != "" && resource.MustLookup(k.Parent).Numbered()
}

// readable reports whether the kind can be exported.
func readable(k *resource.Kind) bool {
	if k.Membership != nil {
		_, ok := k.Op(resource.ListMembers, resource.Full)
		return ok
	}
	_, ok := k.Op(resource.List, resource.Full)
	return ok && k.Section != ""
}

// kindChoice says which kinds are read, and what for.
type kindChoice struct {
	exported map[*resource.Kind]bool // the manifests list them
	named    map[*resource.Kind]bool // fields of those refer to them
	skipped  map[*resource.Kind]bool // they are costly, and were not asked for
}

// chooseKinds takes the sections of --only, all if there are none, and of what is costly those of --with.
func chooseKinds(only, with []string) (kindChoice, error) {
	c := kindChoice{map[*resource.Kind]bool{}, map[*resource.Kind]bool{}, map[*resource.Kind]bool{}}
	for _, word := range with {
		if !slices.ContainsFunc(resource.Kinds(), func(k *resource.Kind) bool { return readable(k) && costly(k) && asked([]string{word}, k) }) {
			return c, &UnknownWordError{"--with", word, Costly()}
		}
	}
	for _, word := range only {
		if !slices.ContainsFunc(resource.Kinds(), func(k *resource.Kind) bool { return readable(k) && k.Membership == nil && asked([]string{word}, k) }) {
			return c, &UnknownWordError{"--only", word, sections()}
		}
	}
	for _, k := range resource.Kinds() {
		switch {
		case k.Membership != nil || !readable(k) || len(only) > 0 && !asked(only, k):
		case costly(k) && !asked(with, k) && !asked(only, k):
			c.skipped[k] = true
		default:
			for c.exported[k] = true; k.Parent != ""; c.exported[k] = true {
				k = resource.MustLookup(k.Parent)
			}
		}
	}
	for k := range c.exported {
		for i := range k.Fields {
			if f := &k.Fields[i]; f.IsRef() && (!f.WriteOnly || f.CreateOnly()) {
				if to := resource.MustLookup(f.Ref); !to.Numbered() {
					c.named[to] = true
				}
			}
		}
	}
	return c, nil
}

// sections lists what can be exported.
func sections() []string {
	var words []string
	for _, k := range resource.Kinds() {
		if k.Membership == nil && readable(k) {
			words = append(words, k.Section)
		}
	}
	return words
}

// Costly lists what is read only if it is asked for.
func Costly() []string {
	var words []string
	for _, k := range resource.Kinds() {
		if readable(k) && costly(k) {
			words = append(words, word(k))
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// word is what people call what a kind holds.
func word(k *resource.Kind) string {
	if m := k.Membership; m != nil {
		f, _ := resource.MustLookup(m.On).Field(m.Field)
		switch {
		case f.Group != "":
			return f.Group
		case m.On == m.Member: // the containers are what people think of
			return word(resource.MustLookup(m.Container))
		default:
			return m.Field
		}
	}
	if k.Section == "" {
		return k.Name + "s"
	}
	return k.Section
}

// UnknownWordError is a word on the command line that means nothing.
type UnknownWordError struct {
	Flag, Word string
	words      []string // that mean something
}

// Error names flag and word.
func (e *UnknownWordError) Error() string { return e.Flag + " " + e.Word + ": no such section" }

// Hint names the words that mean something.
func (e *UnknownWordError) Hint() string { return diag.OneOf(e.Word, e.words) }

// filter leaves out what the user did not ask for, and what is archived where a manifest cannot say that.
func (r *reader) filter(l *list) error {
	objects := l.of.children[l.kind]
	wanted := map[*object]bool{}
	if l.kind.Name == "project" {
		for _, name := range r.o.Projects {
			t, err := findProject(objects, name)
			if err != nil {
				return err
			}
			wanted[t] = true
		}
	}
	archivable := slices.ContainsFunc(l.kind.Fields, func(f resource.Field) bool { return f.ArchiveFlag })
	for _, t := range objects {
		switch {
		case len(wanted) > 0 && !wanted[t]:
			t.exported = false
		case t.exported && t.archived() && !archivable:
			t.exported = false
			r.omit(l.kind.Noun(), "archived, and the service does not show its contents", t.name(), 1)
		case t.exported && t.isEmpty():
			t.exported = false
			r.omit(l.kind.Noun(), "without a text", t.parent.called(), 1)
		}
	}
	return nil
}

// isEmpty reports whether an object lacks its required text, such as that of a comment, so that none like it can be created.
func (t *object) isEmpty() bool {
	return slices.ContainsFunc(t.kind.Fields, func(f resource.Field) bool {
		shown, known := f.ObservedIn(t.row)
		return f.Required && f.Rich() && known && shown == ""
	})
}

// projectError is a project of the user that is not there, or not clear.
type projectError struct{ text, hint string }

// Error says what is wrong.
func (e *projectError) Error() string { return e.text }

// Hint says what to do.
func (e *projectError) Hint() string { return e.hint }

// findProject finds the project that the user means: by identifier or ID, else by name.
func findProject(projects []*object, name string) (*object, error) {
	by := func(fits func(t *object) bool) (hits []*object) {
		for _, t := range projects {
			if fits(t) {
				hits = append(hits, t)
			}
		}
		return hits
	}
	var names []string
	for _, t := range projects {
		code, _ := t.row["identifier"].(string)
		names = append(names, code, t.text("name"))
	}
	code := func(t *object) string { s, _ := t.row["identifier"].(string); return s }
	hits := by(func(t *object) bool { return strings.EqualFold(code(t), name) || t.row.ID() == resource.LowerID(name) })
	if len(hits) == 0 {
		hits = by(func(t *object) bool { return strings.EqualFold(t.text("name"), strings.TrimSpace(name)) })
	}
	switch {
	case len(hits) == 0:
		return nil, &projectError{"the service has no project " + name, diag.DidYouMean(name, names)}
	case len(hits) > 1:
		return nil, &projectError{fmt.Sprintf("%d projects are called %s", len(hits), name), "give the identifier of the right one"}
	case hits[0].archived():
		return nil, &projectError{"the project " + name + " is archived, and the service does not show its contents", "restore it on the service first"}
	}
	return hits[0], nil
}
