// Package pull takes changes that people made on the service into the manifests.
//
// [Take] turns the differences between service and manifests into edits of files, with the same texts as an export, and reads the edited
// manifests before anybody writes them. Every object must be unchanged except for the taken values, and a plan must find these values equal to the
// service's. A value that breaks this is not taken, and a finding says why.
//
// A value that contains references, such as ${{ name }}, is not taken: a finding names the place of the
// referenced text, in a table its line and cell.
//
// If manifest and service both changed, the manifest keeps its value. Fields that the manifest does not
// write, and fields under ignore_changes, are not taken: no plan compares them.
//
// Only fields of objects in the manifest are changed; no object is added or deleted. The package must not
// know the network, the state, or output.
package pull
