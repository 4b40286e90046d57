// Package export writes what a workspace holds as manifests, with what a state file
// says of it: applied to the same workspace, they change nothing.
//
// [Read] asks the service, [Export.Files] are the manifests and the texts beside
// them, [Export.Records] is what the state is to know, and [Write] puts files
// into a folder. What kinds there are, which fields they have and how things are
// named comes from the descriptors of package resource: a new kind is exported
// without a change here.
//
// What a manifest cannot say (a control character in a name, dates in the wrong
// order, two modules of one work item) is left out and told.
//
// The package must not know the command line or the terminal.
//
// Things are listed in the order in which creating them makes the same order
// elsewhere: work items by number, states and labels by place, cycles and modules
// from the last shown to the first, since each new one is shown before the others.
package export
