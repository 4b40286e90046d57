// Package wire is the one way to a server: to the service, its stores of files, and the stores of states. Nothing else makes a transport or
// a client of HTTP, so each answer has an end and a limit, a protocol switch is no answer, and no error shows a credential.
// It must not know what is asked of a server, and it prints nothing.
package wire
