package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/schema"
)

func explainCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "explains kinds of objects and their fields, offline",
		UsageText: "planform explain [KIND[.FIELD]] [FLAGS]", ArgsUsage: "KIND",
		Description: `Lists the kinds of objects, the fields of one kind, or the rules of one field. A kind
is named as in addresses (work_item) or by its list (work_items).

   planform explain
   planform explain work_item
   planform explain work_item.state
   planform explain cycles --output json

The API "documented" has the publicly documented operations only. The edition
"community" is the open source edition, "paid" stands for all other editions.
planform doctor describes your own service.`,
		Flags: outputFlags(),
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usageError{text: "unexpected argument " + c.Args().Get(1), hint: "planform explain KIND, or planform explain KIND.FIELD"}
			}
			out := newOutput(c, p)
			if c.NArg() == 0 {
				return showKinds(out)
			}
			kind, path, _ := strings.Cut(c.Args().First(), ".")
			k, err := kindCalled(kind)
			if err != nil {
				return err
			}
			k, path = inside(k, path)
			return showKind(out, k, path)
		},
	}
}

// explainedKind is the JSON of a kind.
type explainedKind struct {
	Kind        string           `json:"kind"`
	List        string           `json:"list"`
	In          string           `json:"in"` // a kind, or workspace
	Description string           `json:"description"`
	Example     string           `json:"example"`
	APIs        []string         `json:"apis"`
	Editions    []string         `json:"editions"`
	Fields      []explainedField `json:"fields,omitempty"`
}

// explainedField is the JSON of a field, or of another property of objects.
type explainedField struct {
	Name        string   `json:"name"`
	Holds       string   `json:"holds"`
	Description string   `json:"description"`
	Rules       []string `json:"rules"`
	Example     any      `json:"example,omitempty"`
	APIs        []string `json:"apis"`
	Editions    []string `json:"editions"`
}

func explainKind(k *resource.Kind) explainedKind {
	return explainedKind{k.Name, k.Section, cmp.Or(k.Parent, "workspace"), withAddresses(k.Doc), k.Example, apisOf(k, nil), editionsOf(k, nil), nil}
}

// explainFields returns the fields of a kind and the properties that all objects have. A path selects a field or a group; "" selects all.
func explainFields(k *resource.Kind, path string) []explainedField {
	var fields []explainedField
	for i := range k.Fields {
		f := &k.Fields[i]
		e := explainedField{f.Path(), holds(f), withAddresses(f.Doc), rules(k, f), nil, apisOf(k, f), editionsOf(k, f)}
		if f.Example != "" {
			e.Example = schema.Example(k, f)
		}
		fields = append(fields, e)
	}
	for _, p := range schema.Common(k) {
		fields = append(fields, explainedField{p.Name, p.Holds, withAddresses(p.Doc), []string{}, nil, apisOf(k, nil), editionsOf(k, nil)})
	}
	return slices.DeleteFunc(fields, func(e explainedField) bool { return path != "" && !strings.HasPrefix(e.Name+".", path+".") })
}

// withAddresses returns a description with the address of each page that it links to.
func withAddresses(doc string) string { return schema.WithLinks(doc, "$1 (%s)") }

// inside returns the kind of the list that a path begins with, such as links of a work item, and the rest of the path.
func inside(k *resource.Kind, path string) (*resource.Kind, string) {
	list, rest, _ := strings.Cut(path, ".")
	for _, child := range resource.Children(k.Name) {
		if child.Section == list {
			return inside(child, rest)
		}
	}
	return k, path
}

// kindCalled returns the kind for a word: the kind's name, its list, or a word of another tracker. The word may have - instead of _.
func kindCalled(word string) (*resource.Kind, error) {
	name := strings.ReplaceAll(cmp.Or(equivalent("kinds", word), word), "-", "_")
	var found, known []string
	for _, k := range resource.Kinds() {
		switch {
		case k.Section == "": // no manifest has it
			continue
		case k.Name == name:
			return k, nil
		case k.Section == name:
			found = append(found, k.Name)
		}
		known = append(known, k.Name, k.Section)
	}
	switch len(found) {
	case 0:
		if meant := cmp.Or(manifest.Meaning(name, known), manifest.Meaning(diag.Plural(name), known)); meant != "" {
			return kindCalled(meant)
		}
		hint := cmp.Or(diag.DidYouMean(name, resource.Listed()), "planform explain lists the kinds")
		return nil, usageError{text: "unknown kind " + cmp.Or(word, `""`), hint: hint}
	case 1:
		return resource.MustLookup(found[0]), nil
	}
	return nil, usageError{text: "several kinds have a list " + name, hint: "name one of them: " + strings.Join(found, ", ")}
}

func showKinds(out output) error {
	var all []explainedKind
	var rows [][]string
	var add func(parent, indent string)
	add = func(parent, indent string) {
		for _, k := range resource.Children(parent) {
			all = append(all, explainKind(k))
			rows = append(rows, []string{indent + k.Section, k.Name, firstSentence(k.Doc)})
			add(k.Name, indent+"  ")
		}
	}
	add("", "")
	if out.json {
		return out.view.JSON(map[string]any{"format_version": view.FormatVersion, "kinds": all})
	}
	return out.view.Definitions([]string{"list", "kind", "holds"}, rows)
}

func showKind(out output, k *resource.Kind, path string) error {
	e := explainKind(k)
	e.Fields = explainFields(k, path)
	switch {
	case len(e.Fields) == 0:
		var names []string
		for _, f := range explainFields(k, "") {
			names = append(names, f.Name)
		}
		hint := "planform explain " + k.Name + " lists the fields"
		if near := cmp.Or(manifest.Meaning(path, names), strings.Join(diag.Typo(path, names), "")); near != "" {
			hint = "did you mean " + k.Name + "." + near + "?"
		}
		return usageError{text: diag.A(k.Noun()) + " has no field " + path, hint: hint}
	case out.json:
		return out.view.JSON(map[string]any{"format_version": view.FormatVersion, "kinds": []explainedKind{e}})
	case path != "":
		return out.view.Definitions(nil, nil, fieldLines(k, e.Fields)...)
	}
	word := map[bool]string{false: "list ", true: "mapping "}[k.Singleton]
	lines := []string{k.Name + ", in the " + word + k.Section + " of " + diag.A(strings.ReplaceAll(e.In, "_", " ")), k.Doc, ""}
	lines = append(lines, strings.Split("   "+strings.ReplaceAll(k.Example, "\n", "\n   "), "\n")...)
	var rows [][]string
	for _, f := range e.Fields {
		rows = append(rows, []string{f.Name, f.Holds, firstSentence(f.Description)})
	}
	for _, child := range resource.Children(k.Name) {
		rows = append(rows, []string{child.Section, "objects: " + child.Name, firstSentence(child.Doc)})
	}
	return out.view.Definitions([]string{"field", "holds", "about"}, rows, append(lines, "", availability(e.APIs, e.Editions), "")...)
}

// fieldLines returns the descriptions of fields as lines, one field after another.
func fieldLines(k *resource.Kind, fields []explainedField) []string {
	var lines []string
	for _, f := range fields {
		lines = append(append(lines, k.Name+"."+f.Name+": "+f.Holds, "", f.Description), f.Rules...)
		if f.Example != nil {
			value, _ := json.Marshal(f.Example) // texts, and JSON of a descriptor
			text := strings.Replace(f.Name, ".", ": {", 1) + ": " + strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(string(value)) + strings.Repeat("}", strings.Count(f.Name, "."))
			lines = append(lines, "", "   "+text)
		}
		lines = append(lines, "", availability(f.APIs, f.Editions), "")
	}
	return lines[:len(lines)-1]
}

func availability(apis, editions []string) string {
	return "APIs: " + strings.Join(apis, ", ") + "; editions: " + strings.Join(editions, ", ")
}

// firstSentence returns the beginning of a description, without markup.
func firstSentence(doc string) string {
	doc, _, _ = strings.Cut(strings.ReplaceAll(doc, "`", ""), ". ")
	return strings.TrimSuffix(doc, ".")
}

// apisOf returns the APIs that can create or change objects of a kind. If f is not nil, they can also set the field.
func apisOf(k *resource.Kind, f *resource.Field) []string {
	words := []string{}
	for _, api := range []resource.API{resource.Documented, resource.V1, resource.V2} {
		can := slices.ContainsFunc(k.Operations, func(o resource.Operation) bool {
			return api.Offers(&o) && (o.Verb == resource.Create || o.Verb == resource.CreateMany || o.Verb == resource.Update)
		})
		if f != nil {
			can = can && (f.Documented || api.Wide()) && (!f.OnlyV2() || api == resource.V2)
			if via, ok := resource.MembershipOf(k.Name, f.Name); ok && !can {
				_, can = via.Op(resource.AddMembers, api)
			}
		}
		if can {
			words = append(words, api.String())
		}
	}
	return words
}

// editionsOf returns the editions that have the kind. If f is not nil, they also have the kind that the field names.
func editionsOf(k *resource.Kind, f *resource.Field) []string {
	needed := []*resource.Kind{k}
	if f != nil {
		via, _ := resource.MembershipOf(k.Name, f.Name)
		ref, _ := resource.Lookup(cmp.Or(f.Ref, f.DefinedBy))
		needed = append(needed, via, ref)
	}
	if slices.ContainsFunc(needed, func(k *resource.Kind) bool {
		return k != nil && (k.Section != "" || k.Membership != nil) && !slices.ContainsFunc(k.Operations, func(o resource.Operation) bool {
			return o.Writes() && sandbox.Community.Has(o.Method, o.Path)
		})
	}) {
		return []string{"paid"}
	}
	return []string{"community", "paid"}
}

func holds(f *resource.Field) string {
	switch f.Type { //nolint:exhaustive // the others have one word each
	case resource.Enum:
		return "one of " + strings.Join(f.Enum, ", ")
	case resource.EnumSet:
		return "list of " + cmp.Or(strings.Join(f.Enum, ", "), "words")
	case resource.Ref:
		return resource.MustLookup(f.Ref).Noun()
	case resource.RefSet:
		return "list of " + diag.Plural(resource.MustLookup(f.Ref).Noun())
	}
	return [...]string{
		resource.Text: "text", resource.LongText: "text", resource.Markdown: "Markdown", resource.HTML: "HTML", resource.File: "path", resource.Upload: "path",
		resource.SecretFile: "path", resource.Date: "date", resource.Color: "colour", resource.URL: "URL", resource.Number: "number",
		resource.Boolean: "true or false", resource.JSON: "object", resource.CustomFields: "mapping",
	}[f.Type]
}

// rules returns the rules of a field that its description does not tell, a sentence each.
func rules(k *resource.Kind, f *resource.Field) []string {
	list := []string{}
	add := func(is bool, text string) {
		if is {
			list = append(list, text)
		}
	}
	add(f.Required && f.Initial == "", "Required to create one.")
	add(f.PatternDoc != "", "It is "+f.PatternDoc+".")
	add(f.MaxLength > 0, fmt.Sprintf("At most %d characters.", f.MaxLength))
	add(f.Immutable && !k.Uploads(), "Cannot be changed afterwards.")
	add(f.OnlyV2(), "API v2 only.")
	var others []string
	for i := range k.Fields {
		if k.Alternatives(f, &k.Fields[i]) {
			others = append(others, "`"+k.Fields[i].Path()+"`")
		}
	}
	add(others != nil, "Not together with "+strings.Join(others, " or ")+".")
	add(f.Clear != resource.ClearNever && !f.Virtual && !strings.Contains(f.Doc, "`null`"), "`null` clears it.")
	return list
}
