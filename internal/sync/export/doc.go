// Package export writes the content of a workspace as manifests, with the records of a state file for it:
// applied to the same workspace, they change nothing.
//
// [Read] works in these passes: choose the kinds (filter.go), read them level by level, from the workspace down (read.go), give each
// object its key (keys.go), and compose manifests and records (compose.go, fields.go, names.go). [Write] puts the files into a folder.
// Kinds, fields and natural keys come from the descriptors of package resource: a new kind is exported without a change here.
//
// A value that a manifest cannot hold, such as a control character in a name or dates in the wrong order, is left out and reported.
//
// Objects are listed in the order in which creating them makes the same order elsewhere: work items by number, states and labels by
// place, cycles and modules from the last shown to the first, because each new one is shown before the others.
//
// The package must not know the command line or the terminal.
package export
