package mapping

import (
	"encoding/json"
	"slices"
)

// Schema is the JSON Schema of a mapping file, for editors. losses are the kinds that allow may name. It knows the
// settings and their words; what belongs together, [File.Mapping] checks alone.
func Schema(losses []string) []byte {
	type object = map[string]any
	text := object{"type": "string"}
	texts := object{"type": "array", "items": text}
	oneOf := func(list ...string) object { return object{"enum": list} }
	open := func(list ...string) object { return object{"enum": append(slices.Clone(list), Open)} }
	fields := func(properties object) object {
		return object{"type": "object", "properties": properties, "additionalProperties": false}
	}
	entries := func(value any) object {
		return object{"type": []string{"object", "null"}, "additionalProperties": value}
	}
	or := func(choices ...any) object { return object{"anyOf": choices} }
	boolean := object{"type": "boolean"}
	allowed := object{}
	for _, kind := range losses {
		allowed[kind] = or(oneOf("all"), object{"type": "integer", "minimum": 0})
	}
	root := fields(object{
		"version": object{"const": 1},
		"source":  fields(object{"format": text, "site": text, "timezone": text, "dates": open("dmy", "mdy")}),
		"columns": entries(or(open(ColumnFields()...), fields(object{"field": open(ColumnFields()...), "split": text}))),
		"target":  fields(object{"workspace": text}),
		"projects": entries(or(oneOf("skip"), object{
			"type": "object", "additionalProperties": false, "required": []string{"key", "identifier"},
			"properties": object{"key": object{"type": "string", "pattern": keyPattern.String()}, "identifier": object{"type": "string", "pattern": identifier.String()}, "name": text},
		})),
		"people": entries(or(
			open("text", "bot", "anonymous"), object{"type": "string", "pattern": email.String()},
			fields(object{"email": object{"type": "string", "pattern": email.String()}, "as": text, "assign": boolean}),
		)),
		"unknown_people": or(oneOf("text", "fail"), object{"type": "string", "pattern": email.String()}),
		"states": entries(or(text, fields(object{
			"name": text, "group": open(Groups()...), "unless": fields(object{"resolution": texts}), "else": text,
		}))),
		"priorities":  entries(open(Priorities()...)),
		"types":       entries(or(text, fields(object{"name": text, "is_epic": boolean}))),
		"labels":      fields(object{"rename": entries(text), "skip": texts, "add": texts, "case": oneOf("fold", "keep")}),
		"components":  oneOf("module", "label", "skip"),
		"versions":    fields(object{"fix": oneOf("module", "label", "skip"), "affects": oneOf("label", "skip"), "prefix": text}),
		"sprints":     oneOf("cycle", "skip"),
		"archived":    oneOf("skip", "keep", "archive"),
		"numbers":     oneOf("new", "keep", "fill"),
		"links":       entries(open(LinkKinds()...)),
		"fields":      entries(or(open("text", "skip"), fields(object{"field": text, "type": oneOf(FieldTypes()...)}))),
		"text":        fields(object{"references": oneOf("link", "text")}),
		"comments":    fields(object{"to": oneOf("comments", "skip"), "header": text}),
		"attachments": fields(object{"to": oneOf("upload", "skip"), "folder": text}),
		"history":     oneOf("text", "full"),
		"allow":       object{"type": []string{"object", "null"}, "properties": allowed, "additionalProperties": false},
	})
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "planform mapping"
	data, _ := json.MarshalIndent(root, "", "  ") // maps and texts always encode
	return append(data, '\n')
}
