// Package pull takes what people changed on the service back into the manifests.
//
// [Take] turns the divergences of a plan into edits of files, in the words that an export writes, and reads the edited
// manifests again before anybody writes them: every object must be as it was, but for the values that were taken, and a
// plan of it must find these equal to the service's. A file of which that is not so stays as it is, with a finding.
//
// A value that references are part of is not taken: a finding names where the texts stand that these lead to, of a table the line and cell.
//
// Where manifest and service both changed, the manifest keeps its value. Fields that the manifest does not write, and those
// that it leaves to people (ignore_changes), are not taken: nothing compares them, so the next plan would show nothing either.
//
// Nothing is deleted from a manifest or added to it but fields of objects that it has. The package must not know the
// network, the state, or output.
package pull
