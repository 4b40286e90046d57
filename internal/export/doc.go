// Package export writes what a workspace holds as manifests, with the records of a
// state file for it: applied to the same workspace, they change nothing.
//
// [Read] goes through these passes: choose the kinds (filter.go), read them level by
// level, from the workspace down (read.go), give each object its key (keys.go), and
// compose manifests and records (compose.go, fields.go, names.go). [Write] puts the
// files into a folder. Kinds, fields and natural keys come from the descriptors of
// package resource: a new kind is exported without a change here.
//
// What a manifest cannot say, such as a control character in a name or dates in the
// wrong order, is left out and reported.
//
// Objects are listed so that creating them in that order makes the same order
// elsewhere: work items by number, states and labels by place, cycles and modules
// from the last shown to the first, since each new one is shown before the others.
//
// The package must not know the command line or the terminal.
package export
