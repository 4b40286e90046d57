package mapping

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
)

// setting is one place of the file: the schema of its values, and the function that reads them.
type setting struct {
	schema object // JSON Schema, for editors
	read   func(*yaml.Node)
}

// object is an object of JSON Schema.
type object = map[string]any

// table has the settings of a mapping with fixed keys.
type table map[string]setting

func anyText() object { return object{"type": "string"} }

// Schema returns the JSON Schema of a mapping file, for editors. It has the settings and their words; only [File.Mapping] checks rules
// between settings.
func Schema(agreeable []string) []byte {
	root := (&decoder{m: &Mapping{}}).root(agreeable).schema
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "planform mapping"
	data, _ := json.MarshalIndent(root, "", "  ") // maps and texts always encode
	return append(data, '\n')
}

func (s setting) then(more func(*yaml.Node)) setting {
	read := s.read
	s.read = func(n *yaml.Node) {
		read(n)
		more(n)
	}
	return s
}

// either returns a setting that is a scalar in one form, or a mapping in another. others are the schemas of more forms of the scalar.
func either(short, long setting, others ...object) setting {
	choices := []any{short.schema}
	for _, other := range others {
		choices = append(choices, other)
	}
	return setting{object{"anyOf": append(choices, long.schema)}, func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			short.read(n)
		} else {
			long.read(n)
		}
	}}
}

// fields returns a setting that is a mapping with fixed keys.
func (d *decoder) fields(known table) setting {
	properties := object{}
	for name, s := range known {
		properties[name] = s.schema
	}
	return setting{object{"type": "object", "properties": properties, "additionalProperties": false}, func(n *yaml.Node) {
		keys := map[string]*yaml.Node{}
		for key := range yamltext.Pairs(n.Content) {
			keys[key.Value] = key
		}
		d.readEntries(n, func(key string, value *yaml.Node) {
			if s, ok := known[key]; ok {
				s.read(value)
			} else {
				d.wrong(keys[key], diag.Choose(key, slices.Sorted(maps.Keys(known))), "there is no setting %q here", key)
			}
		})
	}}
}

// each returns a setting that is a mapping whose keys are names of the source.
func (d *decoder) each(of func(key string) setting) setting {
	return setting{object{"type": []string{"object", "null"}, "additionalProperties": of("").schema}, func(n *yaml.Node) {
		d.readEntries(n, func(key string, n *yaml.Node) { of(key).read(n) })
	}}
}

// entries returns a setting that is a mapping with entries for names of the source. With an entry for the rest, other entries that are open
// do not count.
func entries[T any](d *decoder, to *Names[T], of func(key string, value *T) setting) setting {
	rest := false
	all := d.each(func(key string) setting {
		value := new(T)
		asked := len(d.m.Questions)
		return of(key, value).then(func(*yaml.Node) {
			if rest && len(d.m.Questions) > asked {
				d.m.Questions = d.m.Questions[:asked]
				return
			}
			to.set(key, *value)
		})
	})
	return setting{all.schema, func(n *yaml.Node) {
		rest = child(n, Rest) != nil
		all.read(n)
	}}
}

func (d *decoder) word(to *string, list ...string) setting {
	return setting{object{"enum": list}, func(n *yaml.Node) { *to = d.readWord(n, list) }}
}

// wordOrOpen returns a setting for one of several words, or a question.
func (d *decoder) wordOrOpen(to *string, section, name string, list ...string) setting {
	return setting{object{"enum": append(slices.Clone(list), Open)}, func(n *yaml.Node) {
		if n.Value == Open {
			*to = d.readOpen(n, section, name)
		} else {
			*to = d.readWord(n, list)
		}
	}}
}

// is returns a setting for one of several words, which stores whether the word is yes.
func (d *decoder) is(to *bool, yes string, list ...string) setting {
	return setting{object{"enum": list}, func(n *yaml.Node) { *to = d.readWord(n, list) == yes }}
}

func (d *decoder) boolean(to *bool) setting {
	return setting{object{"type": "boolean"}, d.is(to, "true", "true", "false").read}
}

func (d *decoder) text(to *string) setting {
	return setting{anyText(), func(n *yaml.Node) { *to = d.readText(n) }}
}

// textOrOpen returns a setting that is a text, or a question, which is read as "".
func (d *decoder) textOrOpen(to *string, section, name string) setting {
	return setting{anyText(), func(n *yaml.Node) { *to = d.readOpen(n, section, name) }}
}

func (d *decoder) matching(to *string, pattern *regexp.Regexp, want string) setting {
	return setting{object{"type": "string", "pattern": pattern.String()}, func(n *yaml.Node) {
		if *to = d.readText(n); !pattern.MatchString(*to) {
			d.wrong(n, "it has "+want, "%q is not possible here", *to)
		}
	}}
}

func (d *decoder) texts(to *[]string) setting {
	return setting{object{"type": "array", "items": anyText()}, func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			d.wrong(n, "write it in brackets: [a, b]", "a list is expected here")
			return
		}
		for _, member := range n.Content {
			*to = append(*to, d.readText(member))
		}
	}}
}

func (d *decoder) readEntries(n *yaml.Node, each func(key string, value *yaml.Node)) {
	if n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.wrong(n, "write a line for each name, such as name: value", "names with values are expected here")
		return
	}
	first := map[string]*yaml.Node{}
	for key, value := range yamltext.Pairs(n.Content) {
		if key.Kind != yaml.ScalarNode || value.Kind == yaml.AliasNode {
			d.wrong(key, "write it out", "aliases and merge keys are not read here")
			continue
		}
		if other := first[key.Value]; other != nil {
			d.wrong(key, "remove one of them; the other is in line "+strconv.Itoa(other.Line), "%q is here twice", key.Value)
			continue
		}
		first[key.Value] = key
		each(key.Value, value)
	}
}

func (d *decoder) readText(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		d.wrong(n, "", "a text is expected here")
		return ""
	}
	return n.Value
}

// readOpen returns a text, or records a question and returns "".
func (d *decoder) readOpen(n *yaml.Node, section, name string) string {
	text := d.readText(n)
	if text != Open {
		return text
	}
	d.m.Questions = append(d.m.Questions, Question{section, name, d.at(n)})
	return ""
}

// readWord returns one of several words, in any case of letters.
func (d *decoder) readWord(n *yaml.Node, list []string) string {
	text := d.readText(n)
	for _, word := range list {
		if strings.EqualFold(word, text) {
			return word
		}
	}
	if n.Kind == yaml.ScalarNode {
		d.wrong(n, diag.Choose(text, list), "%q is not possible here", text)
	}
	return list[0]
}
