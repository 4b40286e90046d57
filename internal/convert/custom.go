package convert

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// customField is a custom field of Plane. Its definition stands with each work item type that uses the field, because the service requires
// that.
type customField struct {
	kind    string
	options *names
	types   []string // of items that have a value
}

// customFields returns the custom fields of a project by name. The mapping sets the type of a field, else all values together decide it.
func (c *composer) customFields(places []place) map[string]*customField {
	found, values := map[string]*customField{}, map[string][]string{}
	for _, at := range places {
		for _, f := range c.found.fields(at.issue) {
			to, ok := c.mapping.Custom.Find(f.Name)
			if !ok {
				continue
			}
			if found[to.Name] == nil {
				found[to.Name] = &customField{options: newNames()}
			}
			if to.Type != "" {
				found[to.Name].kind = to.Type
			}
			if v := strings.TrimSpace(f.Value); v != "" && found[to.Name].kind == "" {
				values[to.Name] = append(values[to.Name], v)
			}
		}
	}
	for name, f := range found {
		if f.kind == "" {
			f.kind = guessType(values[name])
		}
	}
	return found
}

// guessType returns the type of a field with these values. A few values that repeat make it an option.
func guessType(values []string) string {
	const most, longest = 30, 60
	for _, kind := range []string{"decimal", "datetime", "boolean"} {
		if len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { _, ok := valueAs(kind, v); return !ok }) {
			return kind
		}
	}
	distinct := map[string]bool{}
	for _, v := range values {
		if distinct[v] = true; len(v) > longest || strings.Contains(v, "\n") || len(distinct) > most {
			return "text"
		}
	}
	if 2*len(distinct) > len(values) {
		return "text"
	}
	return "option"
}

// valueAs returns a value in the notation of manifests for a type; ok is false if the value does not have that type.
func valueAs(kind, v string) (text string, ok bool) {
	switch kind {
	case "decimal":
		return v, json.Valid([]byte(v)) && strings.Trim(v, "+-.0123456789eE") == ""
	case "boolean":
		switch strings.ToLower(v) {
		case "true", "yes":
			return "true", true
		}
		return "false", strings.EqualFold(v, "false") || strings.EqualFold(v, "no")
	case "datetime":
		if _, err := time.Parse(time.DateOnly, v); err == nil {
			return v, true
		}
		for _, layout := range []string{time.DateTime, time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05"} {
			if t, err := time.Parse(layout, v); err == nil {
				return t.UTC().Format(time.DateTime), true
			}
		}
		return "", false
	case "url":
		url, _ := resource.MustLookup("link").Field("url")
		return v, manifest.CheckText(url, v) == ""
	case "option":
		name, _ := cut(diag.OneLine(v))
		return name, true
	default:
		return v, true
	}
}

func (c *composer) fields(i *Issue, kind string, g *groups) manifest.Map {
	var list manifest.Map
	for _, f := range i.Fields {
		to, ok := c.mapping.Custom.Find(f.Name)
		v := strings.TrimSpace(c.clean(i, f.Value))
		if !ok || v == "" || slices.ContainsFunc(list, func(e manifest.Entry) bool { return e.Key == to.Name }) {
			continue
		}
		field := g.fields[to.Name]
		v, fits := valueAs(field.kind, v)
		if !fits || kind == "" {
			c.report.lose("field-values", i, 1)
			c.bookField(f, lost)
			continue
		}
		if field.kind == "option" {
			field.options.add(v)
		}
		if !slices.Contains(field.types, kind) {
			field.types = append(field.types, kind)
		}
		c.bookField(f, carried)
		c.report.custom[to.Name+" ("+field.kind+")"]++
		var value any = v
		if field.kind == "decimal" || field.kind == "boolean" {
			value = manifest.Literal(v)
		}
		list = append(list, manifest.Entry{Key: to.Name, Value: value})
	}
	return list
}

// declareFields adds custom fields as properties to the work item types whose items use them.
func (g *groups) declareFields() {
	sorted := slices.Sorted(maps.Keys(g.fields))
	for _, kind := range g.types.order {
		list := newNames()
		for _, name := range sorted {
			if f := g.fields[name]; slices.Contains(f.types, kind) {
				more := manifest.Map{{Key: "type", Value: f.kind}}
				list.add(name, more.With("options", f.options.entries())...)
			}
		}
		g.types.more[kind] = g.types.more[kind].With("properties", list.entries())
	}
}
