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
// The defaults of a document give its objects, by kind, what they do not write themselves (defaults.go),
// before anything is merged.
//
// [Load] goes through these passes, each with its own input and output: write out templates,
// collect the objects of each file (collect.go), decode and check each by itself (decode.go,
// validate.go, violations.go), merge what is one object (merge.go), resolve references
// (references.go), and check what holds between objects (cycles.go, lifecycle.go).
//
// # Many of one
//
// A document that has vars or a for_each is written out before its objects are collected
// (templates.go): an entry with for_each becomes an object for each element of a list or a
// table (variables.go), and values stand where references stood. That happens to nodes, so
// a value never becomes YAML; values from tables, the command line and the environment are
// not looked at for references. What is made has its place in the template, and a finding
// says which element it was made for. In other documents, references are texts.
//
// include names manifests that are read after those that are given, each once (include.go).
// A variable of the including document goes to an included one that declares it too.
//
// # Where it comes from
//
// source: {base_url, workspace} says of which service and workspace the IDs of a
// document are, and the readable identifiers that a service gives (WEB-7, not WEB).
// References by them are resolved as they are written. [Manifest.Localize] drops them
// where the manifest goes elsewhere; a reference that means nothing there is left out of
// its object, and listed with it.
//
// # Custom fields
//
// fields: {Severity: High} of a work item is a value for each name. What a name means is known when
// the item's type is: its properties in the manifest define the fields, and each value is
// checked against the definition, options by name. A field without a definition is an error.
//
// # What is kept as written
//
// YAML is decoded to nodes and no further; values are taken from the text of the
// scalars. A text field takes any plain scalar as its text, so that 0777,
// 2026-12-01 and 3.0 stay what they are.
//
// # What is limited
//
// A manifest may come from anybody. Size of files, number of elements, depth,
// and what aliases and templates stand for are limited before memory is spent on them, see
// [Limits]; files that pages and templates name are read below the manifest's folder only.
//
// The package must not know the network, the state file, or how findings are printed.
package manifest
