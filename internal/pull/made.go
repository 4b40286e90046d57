package pull

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/yamltext"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// source is another text where references lead to: in a cell of a table, or in a manifest.
type source struct {
	at    diag.Position
	value any // as an edit takes it
	text  string
}

// group are divergences of which either all are taken or none: the sources give the texts of all of them.
type group struct {
	divergences []*planner.Divergence
	sources     []source
}

// span is a group's values in the result.
type span struct{ from, to int }

// takeMade takes the values that references are part of: what those lead to gets the text that makes exactly the service's, if
// there is one. What is made of few is looked at first, since it may say what others are made of.
func (t *taker) takeMade() error {
	slices.SortStableFunc(t.made, func(a, b *planner.Divergence) int {
		return cmp.Compare(len(places(a.Value.Pieces)), len(places(b.Value.Pieces)))
	})
	var groups []*group
	for _, d := range t.made {
		g, why, err := t.join(d, groups)
		if err != nil {
			return err
		}
		if why != "" {
			t.refuse(d, why)
			continue
		}
		groups = append(slices.DeleteFunc(groups, func(other *group) bool { return g.has(other.divergences[0]) }), g)
	}
	for _, g := range groups {
		t.add(g)
	}
	return nil
}

func (g *group) has(d *planner.Divergence) bool { return slices.Contains(g.divergences, d) }

// join is a divergence together with the groups that it shares sources with; why says why there can be none, or "".
func (t *taker) join(d *planner.Divergence, groups []*group) (joined *group, why string, err error) {
	v, has, want := d.Value, d.Value.Text, ""
	if len(v.Refs) == 1 {
		has = v.Refs[0].Text
	}
	field, value, why := t.encode(d)
	switch value := value.(type) {
	case string:
		want = value
	case yamltext.Literal:
		want = string(value)
	case yamltext.List:
		if want = strings.Join(value.Whole, ","); len(value.Whole) != 1 {
			why = "it has " + diag.Count(len(value.Whole), "member") + " now"
		}
	}
	switch {
	case why != "":
		return nil, why, nil
	case field != v.Field:
		return nil, "only " + field.Name + " can say it", nil
	case written(v.Pieces) != has:
		return nil, "it is made of " + t.template(v), nil
	}
	joined = &group{divergences: []*planner.Divergence{d}}
	pieces := slices.Clone(v.Pieces)
	for _, g := range groups {
		known := false
		for i := range pieces {
			if at := slices.IndexFunc(g.sources, func(s source) bool { return s.at == pieces[i].At }); at >= 0 {
				pieces[i], known = resource.Piece{Text: g.sources[at].text}, true
			}
		}
		if known {
			joined.divergences, joined.sources = append(joined.divergences, g.divergences...), append(joined.sources, g.sources...)
		}
	}
	if written(pieces) == want && len(joined.sources) > 0 {
		return joined, "", nil
	}
	found := solve(pieces, want)
	switch len(found) {
	case 0:
		return nil, "it is made of " + t.template(v) + ", and no other value there makes it", nil
	case 1:
	default:
		return nil, "it is made of " + t.template(v) + ", and a change in more than one place makes it", nil
	}
	s := found[0]
	s.value = s.text
	if _, isLiteral := value.(yamltext.Literal); len(pieces) == 1 && (isLiteral || value == nil) { // a number or nothing stays one
		s.value = value
	}
	why, err = t.unusable(s, v)
	joined.sources = append(joined.sources, s)
	return joined, why, err
}

// template is the text with references that makes a value, for a sentence.
func (t *taker) template(v *resource.Value) string {
	if in, err := t.manifest(v.Position.File); err == nil {
		if text, ok := in.Text(v.Position.Line, v.Position.Column); ok {
			return diag.Quote(strings.TrimSpace(text))
		}
	}
	return "references"
}

// places are those that the references of a text lead to, each once.
func places(pieces []resource.Piece) (all []diag.Position) {
	for _, p := range pieces {
		if !p.At.IsZero() && !slices.Contains(all, p.At) {
			all = append(all, p.At)
		}
	}
	return all
}

// place is where people look for a value: the row of the table that gives all of it, or where it is written.
func (t *taker) place(v *resource.Value) diag.Position {
	var row diag.Position
	for _, at := range places(v.Pieces) {
		at.Column = 0
		if _, isTable := t.Manifest.Tables[at.File]; !isTable || !row.IsZero() && at != row {
			return v.Position
		}
		row = at
	}
	if row.IsZero() {
		return v.Position
	}
	return row
}

func written(pieces []resource.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// solve finds the places of which one other text makes the text that is wanted.
func solve(pieces []resource.Piece, want string) (found []source) {
	for _, at := range places(pieces) {
		before, others, times := -1, 0, 0
		for _, p := range pieces {
			if p.At != at {
				others += len(p.Text)
				continue
			}
			if times++; before < 0 {
				before = others
			}
		}
		length := (len(want) - others) / times
		if length < 0 || before+length > len(want) {
			continue
		}
		with := slices.Clone(pieces)
		for i := range with {
			if with[i].At == at {
				with[i].Text = want[before : before+length]
			}
		}
		if written(with) == want {
			found = append(found, source{at: at, text: want[before : before+length]})
		}
	}
	return found
}

// formula is what a spreadsheet computes, or runs: a number alone is none.
var formula = regexp.MustCompile(`(?s)^[=@]|^[-+][^0-9 ]|^[-+] *[0-9].*[-+*/^&|!(]`)

// unusable says why a text cannot be written where references lead to, or "".
func (t *taker) unusable(s source, v *resource.Value) (why string, err error) {
	if _, isTable := t.Manifest.Tables[s.at.File]; isTable {
		if formula.MatchString(s.text) {
			return "a spreadsheet that opens the table would compute it", nil
		}
		return "", nil
	}
	if !slices.Contains(t.Manifest.Files, s.at.File) {
		return shared, nil
	}
	in, err := t.manifest(s.at.File)
	if err != nil {
		return "", err
	}
	was := v.Pieces[slices.IndexFunc(v.Pieces, func(p resource.Piece) bool { return p.At == s.at })].Text
	switch text, ok := in.Text(s.at.Line, s.at.Column); {
	case !ok || text != was: // it comes from the command line or the environment
		return "it is made of " + t.template(v) + ", of which a value stands in no file", nil
	case manifest.Refers(s.text) && t.refers(s.at.File):
		return "the manifest would take it for a reference", nil
	}
	return "", nil
}

// add makes the values and edits of a group.
func (t *taker) add(g *group) {
	from := len(t.result.Values)
	for _, d := range g.divergences {
		at := g.sources[slices.IndexFunc(g.sources, func(s source) bool { return slices.Contains(places(d.Value.Pieces), s.at) })].at
		taken := Value{
			Object: d.Object, Path: d.Value.Field.Path(), Position: at, Before: d.Change.After, After: d.Change.Before, field: d.Value.Field, file: at.File,
		}
		if _, isTable := t.Manifest.Tables[at.File]; isTable {
			taken.Position.Column = 0
		}
		t.result.Values = append(t.result.Values, taken)
		if _, value, _ := t.encode(d); asText(value) != "" {
			t.keepKey(d, asText(value), len(t.result.Values)-1)
		}
	}
	t.groups = append(t.groups, span{from, len(t.result.Values)})
	for _, s := range g.sources {
		t.edits[s.at.File] = append(t.edits[s.at.File], change{
			Edit: yamltext.Edit{Line: s.at.Line, Column: s.at.Column, Value: s.value}, value: len(t.result.Values) - 1, cell: s.text,
		})
	}
}

// groupOf is the group of a value: itself where it has none.
func (t *taker) groupOf(value int) span {
	for _, g := range t.groups {
		if g.from <= value && value < g.to {
			return g
		}
	}
	return span{value, value + 1}
}

// rewriteTable makes the edits of a table.
func (t *taker) rewriteTable(file string, of []change) ([]byte, error) {
	text, err := t.text(file)
	if err != nil {
		return nil, err
	}
	t.within[file] = t.Manifest.Tables[file]
	cells := map[diag.Position]string{}
	for _, c := range of {
		cells[diag.Position{Line: c.Line, Column: c.Column}] = c.cell
	}
	return manifest.RewriteTable(text, cells)
}
