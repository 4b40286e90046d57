// Package manifest reads YAML manifests into positioned, validated objects, and
// writes documents that it reads back the same ([Encode]).
//
// [Load] takes files, directories and standard input, merges their documents and
// checks everything that can be checked without the service: the form of the
// YAML, every object against the JSON Schema (package schema), keys and IDs,
// references and their cycles, and the files that pages name. It reports all
// findings at once, each with its place; objects are returned only if none of the
// findings is an error.
//
// # What is merged
//
// Lists of documents and files are joined. Projects, states, labels, cycles, modules,
// initiatives, teamspaces, customers and the like can be written in several documents:
// the same address is one object, and its fields are put together. A field that is given
// twice with different values is an error that names both places. Work items, links,
// requests and pages are written once: two equal keys are an error. Within one document
// every key is written once. The rule follows from the descriptors: what the documented
// service cannot create merges.
//
// The defaults of a document (defaults.go) fill in properties that its objects do not set, by kind, before anything is merged.
//
// [Load] makes these passes: expand templates, collect the objects of each file (collect.go), decode and check each object by itself
// (decode.go, validate.go, violations.go), merge documents (merge.go), resolve references (references.go), and check rules between objects
// (cycles.go, lifecycle.go).
//
// # Templates
//
// A document with vars or a for_each is expanded before its objects are collected (templates.go). An entry with for_each becomes one object
// for each element of a list or a table (variables.go), and references are replaced by values. Nodes are expanded, not text, so a value
// never becomes YAML. Values from tables, the command line and the environment are not searched for references. An expanded object has the
// position of its template, and findings name the element. In other documents, ${{ }} is plain text.
//
// include names manifests to read after the given ones, each once (include.go). Variables of the including document are passed to included
// documents that declare them.
//
// # Source
//
// source: {base_url, workspace} names the service and workspace of a document's IDs, and of readable identifiers that a service assigns
// (WEB-7, not WEB). References by ID or identifier are resolved first. If the manifest is applied to another workspace, [Manifest.Localize]
// drops the IDs and identifiers, and lists each reference that has no meaning there with its object.
//
// # Custom fields
//
// fields: {Severity: High} of a work item gives one value for each name. The properties of the item's type in the manifest define the
// fields, and each value is checked against its definition, options by name. A field without a definition is an error.
//
// # Scalars
//
// YAML is decoded to nodes and no further; values are taken from the text of the
// scalars. A text field takes any plain scalar as its text, so that 0777,
// 2026-12-01 and 3.0 stay what they are.
//
// # Limits
//
// A manifest may come from an untrusted author. File size, number of elements, depth, and the elements that aliases and templates produce
// are limited before memory is used for them, see [Limits]. Files that pages and templates name are read only inside the manifest's folder.
//
// The package must not know the network, the state file, or how findings are printed.
package manifest
