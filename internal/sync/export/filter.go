package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// namesKind reports whether a word of the user names the kind.
func namesKind(words []string, k *resource.Kind) bool {
	names := []string{k.Name, k.Section}
	if m := k.Membership; m != nil {
		f, _ := resource.MustLookup(m.On).Field(m.Field)
		names = append(names, m.Field, f.Group)
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return w != "" && slices.Contains(names, strings.ReplaceAll(strings.ToLower(w), "-", "_"))
	})
}

// isReadPerItem reports whether reading objects or members of the kind takes a request for each work item.
func isReadPerItem(k *resource.Kind) bool {
	if m := k.Membership; m != nil {
		return resource.MustLookup(m.Container).Numbered()
	}
	return k.Parent != "" && resource.MustLookup(k.Parent).Numbered()
}

// isReadable reports whether the kind can be exported.
func isReadable(k *resource.Kind) bool {
	if k.Membership != nil {
		_, ok := k.Op(resource.ListMembers, resource.V1)
		return ok
	}
	_, ok := k.Op(resource.List, resource.V2)
	return ok && k.Section != ""
}

// kindChoice holds the kinds to read.
type kindChoice struct {
	exported   map[*resource.Kind]bool // kinds in the manifests
	referenced map[*resource.Kind]bool // kinds to which fields of exported kinds refer
	skipped    map[*resource.Kind]bool // kinds that take a request for each work item, and that the user did not ask for
}

// chooseKinds selects the sections of --only, or all if there are none. Of sections that take a request for
// each work item, it selects only those in --with or --only.
func chooseKinds(only, with []string) (kindChoice, error) {
	c := kindChoice{map[*resource.Kind]bool{}, map[*resource.Kind]bool{}, map[*resource.Kind]bool{}}
	with = slices.DeleteFunc(slices.Clone(with), func(word string) bool { return word == customFields })
	isSection := func(k *resource.Kind) bool { return k.Membership == nil }
	if err := cmp.Or(checkWords("--with", with, isReadPerItem), checkWords("--only", only, isSection)); err != nil {
		return c, err
	}
	for _, k := range resource.Kinds() {
		switch {
		case k.Membership != nil || !isReadable(k) || len(only) > 0 && !namesKind(only, k):
		case isReadPerItem(k) && !namesKind(with, k) && !namesKind(only, k):
			c.skipped[k] = true
		default:
			for c.exported[k] = true; k.Parent != ""; c.exported[k] = true {
				k = resource.MustLookup(k.Parent)
			}
		}
	}
	for k := range c.exported {
		for i := range k.Fields {
			if f := &k.Fields[i]; f.IsRef() {
				if to := resource.MustLookup(f.Ref); !to.Numbered() {
					c.referenced[to] = true
				}
			}
		}
	}
	return c, nil
}

// checkWords returns an error for the first word that names no readable kind of the accepted sort.
func checkWords(flag string, words []string, accepts func(*resource.Kind) bool) error {
	for _, word := range words {
		if !slices.ContainsFunc(resource.Kinds(), func(k *resource.Kind) bool {
			return isReadable(k) && accepts(k) &&
				namesKind([]string{word}, k)
		}) {
			return &UnknownWordError{flag, word, sections(accepts)}
		}
	}
	return nil
}

// sections returns the words for the readable kinds of the accepted sort.
func sections(accepts func(*resource.Kind) bool) []string {
	var words []string
	for _, k := range resource.Kinds() {
		if isReadable(k) && accepts(k) {
			words = append(words, sectionName(k))
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// Costly returns the words for parts that are read only on request.
func Costly() []string {
	return slices.Sorted(slices.Values(append(sections(isReadPerItem), customFields)))
}

// CostlyKinds returns the kinds that a word of [Costly] names. The word for values of custom fields names none.
func CostlyKinds(word string) []*resource.Kind {
	return slices.DeleteFunc(slices.Clone(resource.Kinds()), func(k *resource.Kind) bool {
		return !isReadable(k) || !isReadPerItem(k) || sectionName(k) != word
	})
}

// sectionName returns the word for the objects or members of a kind.
func sectionName(k *resource.Kind) string {
	if m := k.Membership; m != nil {
		f, _ := resource.MustLookup(m.On).Field(m.Field)
		switch {
		case f.Group != "":
			return f.Group
		case m.On == m.Member: // users think of the containers
			return sectionName(resource.MustLookup(m.Container))
		default:
			return m.Field
		}
	}
	if k.Section == "" {
		return k.Name + "s"
	}
	return k.Section
}

// UnknownWordError is an unknown word on the command line.
type UnknownWordError struct {
	Flag, Word string
	words      []string // the known words
}

// Error names the flag and the word.
func (u *UnknownWordError) Error() string { return u.Flag + " " + u.Word + ": no such section" }

// Hint lists the known words.
func (u *UnknownWordError) Hint() string { return diag.OneOf(u.Word, u.words) }

// filter leaves out the objects that the user did not ask for, and archived objects if a manifest cannot express that.
func (r *reader) filter(l *list) error {
	objects := l.parent.children[l.kind]
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
		case t.exported && t.isArchived() && !archivable:
			t.exported = false
			r.addOmission(l.kind.Noun(), "archived, and the service does not show its contents", t.name(), 1)
		case t.exported && t.isEmpty():
			t.exported = false
			r.addOmission(l.kind.Noun(), "without a text", t.parent.label(), 1)
		}
	}
	return nil
}

// isEmpty reports whether an object lacks its required text, such as the text of a comment. No such object can be created.
func (ob *object) isEmpty() bool {
	return slices.ContainsFunc(ob.kind.Fields, func(f resource.Field) bool {
		shown, known := f.ObservedIn(ob.row)
		return f.Required && f.Rich() && known && shown == ""
	})
}

// findProject finds the project that the user means: by identifier or ID, else by name.
func findProject(projects []*object, name string) (*object, error) {
	var byID, byName []*object
	var names []string
	for _, t := range projects {
		identifier, _ := t.row["identifier"].(string)
		names = append(names, identifier, t.text("name"))
		switch {
		case strings.EqualFold(identifier, name) || t.row.ID() == resource.LowerID(name):
			byID = append(byID, t)
		case strings.EqualFold(t.text("name"), strings.TrimSpace(name)):
			byName = append(byName, t)
		}
	}
	found := byID
	if len(byID) == 0 {
		found = byName
	}
	switch {
	case len(found) == 0:
		return nil, diag.WithHint(fmt.Errorf("the service has no project %s", name), diag.DidYouMean(name, names))
	case len(found) > 1:
		return nil, diag.WithHint(fmt.Errorf("%d projects are called %s", len(found), name), "give the identifier of the right one")
	case found[0].isArchived():
		return nil, diag.WithHint(fmt.Errorf("the project %s is archived, and the service does not show its contents", name),
			"restore it on the service first")
	}
	return found[0], nil
}
