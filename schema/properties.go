package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// Property is a property of documents, or of objects besides the fields of their kind, such as key. Doc is Markdown.
type Property struct{ Name, Holds, Doc string }

// TopLevel returns the properties of a document besides the lists of objects.
func TopLevel() []Property { return listed(shellProperties()) }

// Common returns the properties that objects of a kind have besides fields and sections.
func Common(k *resource.Kind) []Property {
	all := commonProperties(k)
	if !k.Singleton {
		all = append(all, forEachProperties()...)
	}
	if TakesFolder(k) {
		all = append(all, folderProperty())
	}
	return listed(all)
}

func listed(all object) []Property {
	words := map[string]string{"string": "text", "boolean": "true or false", "[string number boolean]": "text", "[string number boolean array]": "text, or list", "object": "mapping", "array": "list"}
	properties := make([]Property, len(all))
	for i, m := range all {
		var rules struct {
			Description, MarkdownDescription string
			Type, Const                      any
			Enum                             []string
		}
		_ = json.Unmarshal(indent(m.value.(object)), &rules) //nolint:forcetypeassert // made by described
		holds := cmp.Or(words[fmt.Sprint(rules.Type)], "list")
		switch {
		case rules.Const != nil:
			holds = fmt.Sprint(rules.Const)
		case rules.Enum != nil:
			holds = "one of " + strings.Join(rules.Enum, ", ")
		}
		properties[i] = Property{m.name, holds, cmp.Or(rules.MarkdownDescription, rules.Description)}
	}
	return properties
}

// commonProperties returns the rules of the properties that are not fields, without for_each and folder.
func commonProperties(k *resource.Kind) object {
	ps := object{
		describedProperty(Key, "Name inside the manifests. "+keyDefault(k),
			object{{"type", textTypes(false)}, {"pattern", keyPattern}, {"maxLength", 100}}),
		describedProperty(ObjectID, "ID of an existing object on the service.", object{{"type", "string"}, {"pattern", idPattern}}),
	}
	if k.Identifier != nil {
		ps = append(ps, describedProperty(Identifier, k.Identifier.Doc, object{{"type", textTypes(false)}, {"pattern", k.Identifier.Pattern}, {"patternErrorMessage", "write " + cmp.Or(k.Identifier.PatternDoc, "an identifier such as WEB-7")}}))
	}
	ps = append(ps, lifecycleProperties()...)
	if k.Singleton { // a singleton cannot be searched, created or deleted
		ps = slices.DeleteFunc(ps, func(m member) bool { return m.name != Ignore && m.name != OnDrift })
	}
	return ps
}

func shellProperties() object {
	slug := object{{"type", textTypes(false)}, {"pattern", workspacePattern}}
	base := object{{"type", "string"}, {"pattern", sourcePattern}, {"examples", []string{"https://api.plane.so"}}}
	return object{
		describedProperty(Version, "Version of the manifest format: 1. Required in each file.", object{{"const", 1}}),
		describedProperty(Workspace, "Slug of the workspace, as its web address shows it. `--workspace` overrides it. If it is absent, `PLANE_WORKSPACE_SLUG` holds.",
			append(slices.Clone(slug), member{"examples", []string{"acme"}})),
		describedProperty(Owner, "Owner of the objects, if several manifests share the workspace. Objects of another owner are not adopted, changed or deleted. See [several teams](teams.md).",
			object{{"type", "string"}, {"pattern", resource.OwnerPattern}, {"examples", []string{"platform"}}}),
		describedProperty(Order, "Order in which objects are created. `exact` numbers work items, sub-items too, as they stand in the manifests. `--order` overrides it.",
			object{{"enum", Orders()}}),
		describedProperty(Source, "Service and workspace that the manifest was exported from. In any other workspace, its IDs and work item identifiers are ignored.",
			object{
				{"type", "object"},
				{"additionalProperties", false},
				{"required", []string{BaseURL, Workspace}},
				{"properties", object{
					describedProperty(BaseURL, "Base URL of the service.", base),
					describedProperty(Workspace, "Slug of the workspace.", slug),
				}},
			}),
		describedProperty(Defaults, "Mapping from a kind, such as `work_item`, to properties. Each object of the kind in this document has them unless it writes others.",
			object{
				{"type", "object"},
				{"propertyNames", object{{"enum", resource.Listed()}}},
				{"additionalProperties", object{{"type", "object"}}},
			}),
		describedProperty(Vars, "Variables of this document, for `${{ vars.NAME }}`: a value of any form, `{csv: FILE}` for a table, or `{env: PLANFORM_NAME, default: VALUE}` for an environment variable. `--var` overrides them. See [many alike](many-alike.md).",
			object{{"type", "object"}, {"propertyNames", object{{"pattern", variablePattern}}}}),
		describedProperty(Include, "Manifests that are read too, relative to this one and below its folder. `*` and `?` stand for any part of a name.",
			object{{"type", "array"}, {"items", object{{"type", "string"}, {"pattern", notBlank}}}}),
	}
}

// lifecycleProperties returns the properties for renaming, creating and deleting an object.
func lifecycleProperties() object {
	text := object{{"type", textTypes(false)}, {"pattern", notBlank}}
	return object{
		describedProperty(Previously, "Former key, or a list of former keys. After a change of key, the object stays the same one, with everything in it.",
			object{{"type", append(textTypes(false), "array")}, {"pattern", notBlank}, {"items", text}}),
		describedProperty(Protect, "With `true` it is never deleted, even after it was removed from the manifest. To delete it, apply `protect: false` first. If absent, the last applied value holds. Only the state file records it, so without that file `--prune` deletes nothing, unless you give `--delete-unrecorded`.",
			object{{"type", "boolean"}}),
		describedProperty(Create, "With `false` it is never created. If it is missing, the plan reports it and skips only objects that depend on it.",
			object{{"type", "boolean"}}),
		describedProperty(Ignore, "Fields that belong to people as soon as the object exists, such as `[state, assignees]`, or `[all]`. They are set when it is created, and never compared afterwards.",
			object{{"type", "array"}, {"items", text}}),
		describedProperty(OnDrift, "Action for fields that somebody changed on the service since the last apply. If absent, `--on-drift` decides.",
			object{{"enum", resource.DriftPolicies()}}),
	}
}

func keyDefault(k *resource.Kind) string {
	for _, name := range k.KeyFrom {
		if f, ok := k.Field(name); ok && f.Type == resource.URL {
			return "Default: the " + name + "."
		}
	}
	if len(k.KeyFrom) == 0 {
		return "Default: the ID, if one is given."
	}
	return "Default: the " + strings.Join(k.KeyFrom, ", else the ") + ", in lower case with hyphens."
}

// forEachProperties returns the properties with which one entry makes many objects.
func forEachProperties() object {
	table := object{
		{"type", "object"},
		{"required", []string{"csv"}},
		{"additionalProperties", false},
		{"properties", object{{"csv", object{{"type", "string"}}}}},
	}
	return object{
		describedProperty(ForEach, "Makes an object for each element of a list; `${{ each.NAME }}` is a value of the element. `{csv: FILE}` takes the rows of a table, `${{ vars.NAME }}` the list of a variable. See [many alike](many-alike.md).",
			object{{"anyOf", []any{object{{"type", "array"}}, table, object{{"$ref", "#/$defs/" + reference}}}}}),
		describedProperty(As, "Name of the element, in place of `each`, for a `for_each` inside another. With `as: project`, write `${{ project.NAME }}`.",
			object{{"type", "string"}, {"pattern", variablePattern}}),
	}
}

func folderProperty() member {
	return describedProperty(Folder, "Makes a page of each Markdown and HTML file in a folder and its subfolders. The path is relative to the manifest, in or below its folder. "+
		"The file gives the title. Other properties hold for all pages; the key begins the keys of the pages. See [pages from a folder](pages.md).",
		object{{"type", "string"}, {"pattern", notBlank}, {"examples", []string{"docs"}}})
}

// describedProperty returns a property with a description in Markdown.
func describedProperty(name, description string, rules object) member {
	return member{name, append(descriptions(description), rules...)}
}

// descriptions returns the descriptions of a kind or a property, from a line of Markdown.
func descriptions(doc string) object {
	plain := withoutMarkup(doc)
	if plain == doc {
		return object{{"description", doc}}
	}
	return object{{"description", plain}, {"markdownDescription", doc}}
}

// withoutMarkup returns a line of Markdown without its markup.
func withoutMarkup(text string) string {
	return strings.ReplaceAll(pageLink.ReplaceAllString(text, "$1"), "`", "")
}
