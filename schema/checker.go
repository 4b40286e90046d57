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

// Checker checks instances. It is safe for concurrent use. It caches accepted values, since
// most objects of a manifest are similar.
type Checker struct {
	*compiledRules
	cache cache
}

// compiledRules are the rules of every kind.
type compiledRules struct {
	shell rules
	kinds map[string]*kindRules
}

// kindRules are the rules of a kind: two sets, one of which applies to an object. The whole
// schema combines them with anyOf; but then the validator tries every branch for every
// object and formats the failure of each, which takes twice as long as all other rules.
type kindRules struct {
	knownBy []string // properties that each identify an object of the service
	known   rules    // for objects with one of them
	created rules    // for the others, which need the properties for a create
}

type rules struct {
	schema *jsonschema.Schema
	names  map[string]bool // of the properties
}

// New returns the checker of every kind. An error is a wrong descriptor, such as a pattern
// that is no regular expression.
func New() (*Checker, error) {
	rules, err := compiled()
	if err != nil {
		return nil, err
	}
	return &Checker{compiledRules: rules}, nil
}

//nolint:gochecknoglobals // computed once from the registry, never changed after
var compiled = sync.OnceValues(compile)

const address = "planform:///rules.json"

// compile compiles all rules as one schema, so that the validator checks them against its own schema once.
func compile() (*compiledRules, error) {
	defs := object{{"document", shell()}}
	for _, k := range resource.Kinds() {
		if k.Section != "" {
			defs = append(defs, definitions(k)...)
		}
	}
	compiler := newCompiler()
	if err := compiler.AddResource(address, bytes.NewReader(indent(object{{"$schema", draft}, {"$defs", defs}}))); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	get := func(name string) (*jsonschema.Schema, error) {
		s, err := compiler.Compile(address + "#/$defs/" + name)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", name, err)
		}
		return s, nil
	}
	document, err := get("document")
	if err != nil {
		return nil, err
	}
	c := &compiledRules{shell: newRules(document), kinds: map[string]*kindRules{}}
	for _, k := range resource.Kinds() {
		if k.Section == "" {
			continue
		}
		known, err := get(k.Name)
		if err != nil {
			return nil, err
		}
		created, err := get(k.Name + bare)
		if err != nil {
			return nil, err
		}
		r := &kindRules{knownBy: knownBy(k), known: newRules(known)}
		r.created = rules{created, r.known.names}
		c.kinds[k.Name] = r
	}
	return c, nil
}

// bare is the suffix of the rules for objects that name no object of the service.
const bare = ".bare"

// definitions are the rules of a kind.
func definitions(k *resource.Kind) object {
	return object{
		{k.Name, kindSchema(k, false)},
		{k.Name + bare, object{{"$ref", "#/$defs/" + k.Name}, {"required", needed(k)}}},
	}
}

func newRules(s *jsonschema.Schema) rules {
	r := rules{schema: s, names: make(map[string]bool, len(s.Properties))}
	for name := range s.Properties {
		r.names[name] = true
	}
	return r
}

// CheckDocument checks a document without its sections.
func (c *Checker) CheckDocument(instance map[string]any) []Violation { return c.shell.check(instance) }

// Whole checks a document with its sections at once against [Document], as an
// editor does. It is for those who have the whole as JSON; the error is the validator's.
func Whole(instance any) error {
	s, err := whole()
	if err != nil {
		return err
	}
	return s.Validate(instance)
}

//nolint:gochecknoglobals // computed once from the registry, never changed after
var whole = sync.OnceValues(func() (*jsonschema.Schema, error) {
	compiler := newCompiler()
	if err := compiler.AddResource(ID, bytes.NewReader(document())); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return compiler.Compile(ID)
})

// newCompiler returns a compiler that asserts formats.
func newCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	return c
}

// Check checks one object of a kind, without the lists of the objects in it. Of the rules
// that one value breaks, it reports the first.
func (c *Checker) Check(kind string, instance map[string]any) []Violation {
	r, ok := c.kinds[kind]
	if !ok {
		return []Violation{{Keyword: Unknown, Message: "there is no kind " + kind}}
	}
	if c.cache.accepts(r, instance) {
		return nil
	}
	must := r.created
	if r.meant(instance) {
		must = r.known
	}
	violations := must.check(instance)
	if len(violations) == 0 {
		c.cache.add(r, instance)
	}
	return violations
}

// meant reports whether a property says which object of the service an instance is.
func (r *kindRules) meant(instance map[string]any) bool {
	for _, name := range r.knownBy {
		if _, ok := instance[name]; ok {
			return true
		}
	}
	return false
}

func (r rules) check(instance map[string]any) []Violation {
	err := r.schema.Validate(instance)
	if err == nil {
		return nil
	}
	failed, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok { // a loop, or a value that is no JSON: a bug
		return []Violation{{Message: err.Error()}}
	}
	var found []Violation
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		v, leaf := r.violation(e)
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
			if !r.names[name] {
				found = append(found, Violation{Path: []string{name}, Property: name, Keyword: Unknown, Message: v.Message})
			}
		}
	}
	walk(failed)
	slices.SortFunc(found, func(a, b Violation) int {
		return cmp.Or(slices.Compare(a.Path, b.Path), cmp.Compare(weight(a.Keyword), weight(b.Keyword)), cmp.Compare(a.Property, b.Property), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Other, b.Other))
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
func (r rules) violation(e *jsonschema.ValidationError) (v Violation, leaf bool) {
	v.Message = e.Message
	if at := strings.TrimPrefix(e.InstanceLocation, "/"); at != "" {
		v.Path = strings.Split(at, "/")
		for i := range v.Path {
			v.Path[i] = unescape(v.Path[i])
		}
		v.Property = v.Path[0]
	}
	steps := strings.Split(e.KeywordLocation, "/")
	last := steps[len(steps)-1]
	switch {
	case last == "required" && len(v.Path) == 0:
		v.Keyword, v.Property = Missing, quoted(e.Message)
		return v, true
	case last == "additionalProperties" && len(v.Path) == 0:
		v.Keyword = Unknown
		return v, true
	case len(e.Causes) > 0:
		return v, false
	case len(steps) >= 4 && steps[len(steps)-4] == "dependentSchemas":
		v.Keyword, v.Other = Exclusive, steps[len(steps)-3]
		return v, true
	default:
		v.Keyword = last
		return v, true
	}
}

// quoted is the name in "missing properties: 'name'".
func quoted(message string) string {
	_, rest, _ := strings.Cut(message, "'")
	name, _, _ := strings.Cut(rest, "'")
	return name
}

// unescape reverses the validator's escaping of a token in a location.
func unescape(token string) string {
	if unescaped, err := url.PathUnescape(token); err == nil {
		token = unescaped
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
