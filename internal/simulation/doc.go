// Package simulation runs planform's commands in a world in which every call to the disk, the service and the store of a shared state can
// go wrong, and holds that nothing is doubled or lost by it. It has tests only.
//
// A run is the command itself, [cli.Run], within a bubble of virtual time. What it reaches beyond itself is simulated: the disk knows what
// was flushed, so that a loss of power can take the rest; requests lead into the sandbox's handler; the store has conditional writes.
// Each such call is an edge. A run without faults shows which edges there are, and then each suffers each fault that it can, alone and in
// pairs; in a random walk, whatever a seed says. After each case planform runs until it is done, as the user would, and then what the
// service has and what the state knows must be what a run without faults leaves.
package simulation
