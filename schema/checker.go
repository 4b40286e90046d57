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

	"github.com/planform/planform/internal/plane/resource"
)

// Keywords of violations besides those of JSON Schema: a required property is missing, a property is unknown, or two properties exclude
// each other.
const (
	Missing   = "missing"
	Unknown   = "unknown"
	Exclusive = "exclusive"
)

// Violation is a rule that an instance breaks.
type Violation struct {
	Path     []string // from the instance to the value, such as labels, 2
	Property string   // the property of the instance; for Missing the first one of several
	Keyword  string   // of JSON Schema, such as type or enum; or Missing, Unknown, Exclusive
	Other    string   // for Exclusive: the property that excludes this one
	Message  string   // of the validator
}

// rules holds the rules of a kind. The required properties depend on whether the object exists on the service. The published schema
// expresses this with anyOf. Here it is checked without the validator, which would try every branch for every object.
type rules struct {
	schema       *jsonschema.Schema
	identifiedBy []string // properties that each identify an object on the service
	required     []string // required properties of an object without any of these
}

const (
	address = "planform:///rules.json"
	shell   = "document"
)

//nolint:gochecknoglobals // computed once from the registry, never changed after
var compiledRules = sync.OnceValue(func() map[string]func() (*rules, error) {
	all := map[string]func() (*rules, error){
		shell: sync.OnceValues(func() (*rules, error) { return compile(shell, &rules{}, shellSchema()) }),
	}
	for _, k := range resource.Kinds() {
		if k.Section != "" {
			all[k.Name] = sync.OnceValues(func() (*rules, error) {
				return compile(k.Name, &rules{identifiedBy: identifyingNames(k), required: requiredNames(k)}, kindSchema(k, false))
			})
		}
	}
	return all
})

// compile compiles rules when they are first needed, because it takes milliseconds, and most manifests have few kinds. An error means an
// invalid descriptor, such as a pattern that is not a regular expression.
func compile(name string, r *rules, definition object) (*rules, error) {
	compiler := jsonschema.NewCompiler()
	compiler.Draft = jsonschema.Draft7 // the check against the newest draft takes longer than compiling
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
func CheckDocument(instance map[string]any) []Violation {
	r, err := compiledRules()[shell]()
	if err != nil {
		return []Violation{{Message: err.Error()}}
	}
	return r.check(instance)
}

// Check checks an object of a kind, without the objects inside it. If a value breaks several rules, it reports the first one.
func Check(kind string, instance map[string]any) []Violation {
	compile, ok := compiledRules()[kind]
	if !ok {
		return []Violation{{Keyword: Unknown, Message: "there is no kind " + kind}}
	}
	r, err := compile()
	if err != nil {
		return []Violation{{Message: err.Error()}}
	}
	return r.check(instance)
}

// missing returns the first required property that an instance lacks, or "".
func (r *rules) missing(instance map[string]any) string {
	has := func(name string) bool { _, ok := instance[name]; return ok }
	if slices.ContainsFunc(r.identifiedBy, has) {
		return ""
	}
	if i := slices.IndexFunc(r.required, func(name string) bool { return !has(name) }); i >= 0 {
		return r.required[i]
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
	if !ok { // an endless schema, or a value that is not JSON: a bug
		return []Violation{{Message: err.Error()}}
	}
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		v, leaf := convertViolation(e)
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
		for name := range instance { // the validator's message lists them unsorted
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

// weight ranks the rules that one value breaks: the lowest is reported.
func weight(keyword string) int {
	order := []string{Unknown, Exclusive, "type", "const", "enum", "maxLength", "pattern", "format"}
	if i := slices.Index(order, keyword); i >= 0 {
		return i
	}
	return len(order)
}

// convertViolation converts an error of the validator. leaf is false if the causes of the error are more precise.
func convertViolation(e *jsonschema.ValidationError) (v Violation, leaf bool) {
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

// unescape decodes a token of a location.
func unescape(token string) string {
	if unescaped, err := url.PathUnescape(token); err == nil {
		token = unescaped
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
