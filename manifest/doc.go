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
// Lists of documents and files are joined. What several documents may have to do
// with (projects, states, labels, cycles, modules, initiatives, teamspaces,
// customers, ...) can be written in each of them: the same address is one thing,
// its fields are put together, a field that is given twice with different values
// is an error naming both places. Work items, links, requests and pages are
// written once: two equal keys are an error. Within one document every key is
// written once. The rule follows from the descriptors: what the documented
// service cannot create merges.
//
// # Where it comes from
//
// source: {base_url, workspace} says of which service and workspace the IDs of a
// document are, and the readable identifiers that a service gives (WEB-7, not WEB).
// References by them are resolved as they are written. [Manifest.Localize] makes
// mere names of them where the manifest goes elsewhere; what nothing in the
// manifest bears is left out of the object, and listed with it.
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
// and what aliases expand to are limited before memory is spent on them, see
// [Limits]; files that pages name are read below the manifest's folder only.
//
// The package must not know the network, the state file, or how findings are printed.
package manifest
