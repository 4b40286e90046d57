// Package wire is the only way to a server: to the service, its file stores, and the stores of states. No other package makes an HTTP
// transport or client, so every answer has an end and a limit, a protocol switch is an error, and no error shows a credential. The package
// must not know what is requested from a server, and prints nothing.
package wire
