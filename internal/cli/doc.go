// Package cli implements the command line, with one file for each command.
//
// The file of a command turns flags into an options value and calls one run function with it. All commands share the process as a value
// ([Process]), the connection to a service or to the sandbox, and the one function from errors to exit codes. Other packages do the work;
// only main imports this package.
package cli
