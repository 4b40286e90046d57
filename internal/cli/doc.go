// Package cli is the command line: one file a command.
//
// A command's file turns flags into an options value and calls one run function
// with it. Shared by all are the process as a value ([Process]), the
// connection to a service or to the sandbox, and the one ladder from errors to
// exit codes. Business is done in the packages below; nothing imports this one
// but main.
package cli
