// Package simulation runs planform's commands in a world in which every call to the disk, the service and
// the store of a shared state can go wrong, and checks that nothing is doubled or lost. It has tests only.
//
// A run is the command itself, [cli.Run], in a bubble of virtual time. Everything outside the process is simulated: the disk knows the
// flushed data, so that a loss of power can remove the rest; requests lead into the sandbox's handler; the store has conditional writes.
// Each such call is an edge. A run without faults shows which edges exist. Then every edge suffers each fault that is possible there,
// alone and in pairs, or in a random walk whatever a seed says. After each case planform runs until it is done, as a user would run it.
// The content of the service and the state must then equal the result of a run without faults.
package simulation
