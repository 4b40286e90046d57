package schema

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/planform/planform/internal/resource"
)

// Keywords of violations besides those of JSON Schema: a required property is missing, a
// property is unknown, and two properties exclude each other.
const (
	Missing   = "missing"
	Unknown   = "unknown"
	Exclusive = "exclusive"
)

// Violation is one rule that an instance breaks.
type Violation struct {
	Path     []string // from the instance down to the value, such as labels, 2
	Property string   // the property of the instance; for Missing the first of several possible ones
	Keyword  string   // of JSON Schema, such as type or enum; or Missing, Unknown, Exclusive
	Other    string   // for Exclusive: the property that excludes this one
	Message  string   // of the validator
}

// Checker checks instances, one after another. It caches accepted values, since most
// objects of a manifest are similar.
type Checker struct {
	caches map[string]*cache // by kind
}

// rules are those of a kind. Which properties an object needs depends on whether it exists
// on the service. The whole schema says that with anyOf; here it is not the validator that
// checks it, which would try every branch for every object and format the failure of each.
type rules struct {
	schema  *jsonschema.Schema
	knownBy []string // properties that each identify an object of the service
	needed  []string // properties that an object without one of these has
}

// New returns the checker of every kind.
func New() *Checker { return &Checker{caches: map[string]*cache{}} }

const (
	address = "planform:///rules.json"
	shell   = "document"
)

//nolint:gochecknoglobals // computed once from the registry, never changed after
var compiled = sync.OnceValue(func() map[string]func() (*rules, error) {
	all := map[string]func() (*rules, error){
		shell: sync.OnceValues(func() (*rules, error) { return compile(shell, &rules{}, shellSchema()) }),
	}
	for _, k := range resource.Kinds() {
		if k.Section != "" {
			all[k.Name] = sync.OnceValues(func() (*rules, error) {
				return compile(k.Name, &rules{knownBy: knownBy(k), needed: needed(k)}, kindSchema(k, false))
			})
		}
	}
	return all
})

// compile compiles rules when they are first needed: that takes milliseconds, and most manifests have few kinds. An error
// is a wrong descriptor, such as a pattern that is no regular expression.
func compile(name string, r *rules, definition object) (*rules, error) {
	compiler := jsonschema.NewCompiler()
	compiler.Draft = jsonschema.Draft7 // checking rules against the newest draft takes longer than compiling them
	compiler.AssertFormat = true
	err := compiler.AddResource(address, bytes.NewReader(indent(definition)))
	if err == nil {
		r.schema, err = compiler.Compile(address)
	}
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	return r, nil
}

// CheckDocument checks a document without its sections.
func (c *Checker) CheckDocument(instance map[string]any) []Violation {
	r, err := compiled()[shell]()
	if err != nil {
		return []Violation{{Message: err.Error()}}
	}
	return r.check(instance)
}

// Check checks one object of a kind, without the lists of the objects in it. Of the rules
// that one value breaks, it reports the first.
func (c *Checker) Check(kind string, instance map[string]any) []Violation {
	compile, ok := compiled()[kind]
	if !ok {
		return []Violation{{Keyword: Unknown, Message: "there is no kind " + kind}}
	}
	r, err := compile()
	if err != nil {
		return []Violation{{Message: err.Error()}}
	}
	if c.caches[kind] == nil {
		c.caches[kind] = &cache{sets: map[string]bool{}, texts: map[string]map[string]bool{}}
	}
	if c.caches[kind].accepts(r, instance) {
		return nil
	}
	violations := r.check(instance)
	if len(violations) == 0 {
		c.caches[kind].add(instance)
	}
	return violations
}

// missing is the first property that an instance needs and does not have, or "".
func (r *rules) missing(instance map[string]any) string {
	has := func(name string) bool { _, ok := instance[name]; return ok }
	if slices.ContainsFunc(r.knownBy, has) {
		return ""
	}
	if i := slices.IndexFunc(r.needed, func(name string) bool { return !has(name) }); i >= 0 {
		return r.needed[i]
	}
	return ""
}

func (r *rules) check(instance map[string]any) []Violation {
	var found []Violation
	if name := r.missing(instance); name != "" {
		found = append(found, Violation{Property: name, Keyword: Missing, Message: "it has no " + name})
	}
	err := r.schema.Validate(instance)
	if err == nil {
		return found
	}
	failed, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok { // a loop, or a value that is no JSON: a bug
		return []Violation{{Message: err.Error()}}
	}
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		v, leaf := violation(e)
		if !leaf {
			for _, cause := range e.Causes {
				walk(cause)
			}
			return
		}
		if v.Keyword != Unknown {
			found = append(found, v)
			return
		}
		for name := range instance { // the message lists them in no order
			if r.schema.Properties[name] == nil {
				found = append(found, Violation{Path: []string{name}, Property: name, Keyword: Unknown, Message: v.Message})
			}
		}
	}
	walk(failed)
	slices.SortFunc(found, func(a, b Violation) int {
		return cmp.Or(slices.Compare(a.Path, b.Path), cmp.Compare(weight(a.Keyword), weight(b.Keyword)),
			cmp.Compare(a.Property, b.Property), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Other, b.Other))
	})
	return slices.CompactFunc(found, func(a, b Violation) bool {
		return len(a.Path) > 0 && slices.Equal(a.Path, b.Path)
	})
}

// weight orders the rules that one value breaks: the first is reported.
func weight(keyword string) int {
	order := []string{Unknown, Exclusive, "type", "const", "enum", "maxLength", "pattern", "format"}
	if i := slices.Index(order, keyword); i >= 0 {
		return i
	}
	return len(order)
}

// violation converts one error of the validator's tree. leaf is false where its causes are more precise.
func violation(e *jsonschema.ValidationError) (v Violation, leaf bool) {
	v.Message = e.Message
	if at := strings.TrimPrefix(e.InstanceLocation, "/"); at != "" {
		v.Path = strings.Split(at, "/")
		for i := range v.Path {
			v.Path[i] = unescape(v.Path[i])
		}
		v.Property = v.Path[0]
	}
	steps := strings.Split(e.KeywordLocation, "/")
	v.Keyword = steps[len(steps)-1]
	switch {
	case v.Keyword == "additionalProperties" && len(v.Path) == 0:
		v.Keyword = Unknown
	case len(e.Causes) > 0:
		return v, false
	case len(steps) >= 4 && steps[len(steps)-4] == "dependencies":
		v.Keyword, v.Other = Exclusive, steps[len(steps)-3]
	}
	return v, true
}

// unescape reverses the validator's escaping of a token in a location.
func unescape(token string) string {
	if unescaped, err := url.PathUnescape(token); err == nil {
		token = unescaped
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
