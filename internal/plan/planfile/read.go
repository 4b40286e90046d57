package planfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// Parse reads a document. Errors name the file by name.
func Parse(name string, text []byte) (*Document, error) {
	bad := func(err error) error {
		return diag.WithHint(fmt.Errorf("%s is not a plan: %w", name, err), "planform plan FILE --out "+name+" writes one; a manifest that is not YAML needs -f")
	}
	var version struct {
		FormatVersion int             `json:"format_version"`
		Steps         json.RawMessage `json:"steps"`
	}
	d := &Document{}
	line, err := diag.ReadJSON(text, d)
	_ = json.Unmarshal(text, &version) // err is about the whole text
	member, unknown := errors.AsType[*diag.UnknownMemberError](err)
	switch {
	case version.FormatVersion > FormatVersion:
		return nil, diag.WithHint(fmt.Errorf("%s has the format version %d, and this planform reads up to %d", name, version.FormatVersion,
			FormatVersion),
			"use the version of planform that made it, or make a new plan")
	case line > 0:
		return nil, bad(fmt.Errorf("line %d: %w", line, err))
	case err != nil && !unknown:
		return nil, bad(err)
	case version.FormatVersion < 1 || version.Steps == nil:
		return nil, bad(errors.New("it has no format_version or no steps"))
	case unknown: // it could mean anything, and no checksum covers it
		return nil, diag.WithHint(fmt.Errorf("%s has the member %s, which this version of planform does not know", name, member.Member),
			"use the version of planform that made it, or make a new plan: a plan cannot be edited")
	}
	if err := d.check(); err != nil {
		return nil, bad(err)
	}
	for _, sum := range []struct{ word, is, want string }{{"hash", d.Hash, d.effectsHash()}, {"checksum", d.Checksum, d.checksum()}} {
		if sum.is != sum.want {
			return nil, diag.WithHint(fmt.Errorf("%s was changed after it was made, or made by another version of planform: its %[2]s is %q, but "+
				"its content has the %[2]s %[4]s", name, sum.word, sum.is, sum.want),
				"a plan cannot be edited: change the manifests, and make a new one")
		}
	}
	seen := map[resource.Address]string{}
	for i := range d.Steps { // whoever wrote the plan, a step must not be hidden behind a step that does not show it
		s := &d.Steps[i]
		first, update := seen[s.Address], planner.Update.String()
		s.Continues = s.Continues && s.Action == update && (first == planner.Create.String() || first != "" && s.setsFields())
		seen[s.Address] = cmp.Or(first, s.Action)
	}
	if d.countSteps() != d.Summary {
		return nil, bad(errors.New("its summary does not fit its steps"))
	}
	return d, nil
}

// countSteps returns the summary with the steps counted anew.
func (d *Document) countSteps() planner.Summary {
	sum := d.Summary
	sum.Create, sum.Update, sum.Adopt, sum.Delete, sum.AddMembers, sum.RemoveMembers, sum.Blocked = 0, 0, 0, 0, 0, 0, 0
	for i := range d.Steps {
		if s := &d.Steps[i]; !s.Continues {
			sum.Count(s.PlannedAction(), len(s.AllMembers()))
		}
	}
	return sum
}

// setsFields reports whether a step sends only values of custom fields, which an earlier step of the object shows.
func (s *Step) setsFields() bool {
	return !slices.ContainsFunc(s.Changes, func(c Change) bool { return !resource.IsCustomName(c.Path) })
}

// check returns an error unless the plan can be shown and compared.
func (d *Document) check() error {
	if d.WebURL != "" && !strings.HasPrefix(d.WebURL, "https://") && !strings.HasPrefix(d.WebURL, "http://") {
		return fmt.Errorf("%q is not the address of a web page", d.WebURL)
	}
	for _, state := range []string{d.State, d.Options.State} {
		if strings.Contains(state, "://") && strings.ContainsAny(state, "?#@") {
			return errors.New("the address of its state may contain a credential")
		}
	}
	for i := range d.Steps {
		if err := d.Steps[i].check(); err != nil {
			return err
		}
	}
	for i := range d.Kept {
		if !isObject(d.Kept[i].Address) {
			return unknownAddress(d.Kept[i].Address)
		}
		if err := d.Kept[i].Change.check(); err != nil {
			return fmt.Errorf("kept %q: %w", d.Kept[i].Address, err)
		}
	}
	return nil
}

// check returns an error unless the step can be shown and compared.
func (s *Step) check() error {
	if s.Page != "" && (!strings.HasPrefix(s.Page, "/") || strings.HasPrefix(s.Page, "//")) {
		return fmt.Errorf("%q is not the address of a web page", s.Page)
	}
	action := planner.NotPossible
	if s.Action != action.String() {
		if err := action.UnmarshalText([]byte(s.Action)); err != nil {
			return err
		}
	}
	_, _, _, members := s.Address.ParseMembership()
	switch moves := action == planner.AddMembers || action == planner.RemoveMembers; {
	case !members && !isObject(s.Address):
		return unknownAddress(s.Address)
	case moves && !members, members && !moves && action != planner.Update && action != planner.NotPossible:
		return fmt.Errorf("the action of %q cannot be %s", s.Address, s.Action)
	}
	for j := range s.Changes {
		if err := s.Changes[j].check(); err != nil {
			return fmt.Errorf("%s of %q: %w", s.Changes[j].Path, s.Address, err)
		}
	}
	return nil
}

func isObject(a resource.Address) bool {
	k, known := resource.Lookup(a.Kind())
	return known && k.Membership == nil
}

func unknownAddress(a resource.Address) error {
	return fmt.Errorf("no kind of %q is known here", a)
}

// check gives the values their types: a text, a list of texts, or nil.
func (c *Change) check() error {
	for _, value := range []*any{&c.Before, &c.After} {
		switch v := (*value).(type) {
		case nil, string:
		case []any:
			list := make([]string, len(v))
			for i := range v {
				var ok bool
				if list[i], ok = v[i].(string); !ok {
					return errors.New("a list contains something other than texts")
				}
			}
			*value = list
		default:
			return errors.New("it is neither a text nor a list")
		}
	}
	return nil
}
