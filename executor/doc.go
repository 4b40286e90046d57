// Package executor carries out a plan concurrently and in dependency order, and
// keeps a record of every step, whatever fails and whenever.
//
// A step starts when the steps in its Needs have succeeded and those in its After
// have ended. A failed step blocks its dependents and nothing else; a blocked step
// names the root cause. No two steps of one address run at the same time.
//
// The [Journal] holds a step's intent before its request is sent, and its outcome
// afterwards. Intents are written in batches ahead of the workers, so that one
// flush to disk serves many requests and no worker waits for it. The number of
// intents ahead follows the number of steps that end during a flush: a few where
// the service sets the pace, never more than 64 per worker. Only steps that can
// start are logged, so a chain of steps costs one flush per step.
//
// The steps of one sequence run one after the other, in the order of the plan and
// whether they succeed or not: a service that numbers new objects then numbers them
// in that order. Steps outside the sequence run at the same time. A few steps of a
// sequence are logged ahead.
//
// Steps of one batch share requests, since the service's limit counts requests and not
// rows. Each keeps its own intent, outcome and events, and one that is refused keeps no
// other back. A batch is gathered when a worker is free. One that is not full waits for
// rows whose predecessors are under way, never for others. In a sequence one batch is
// under way at a time; only a row that waits for a row of the same sequence, such as a
// sub-item for its parent, is overtaken.
//
// Deletes come last, and only if their possible replacements are complete: the
// deleted object may be one that the plan moves to another place. So a failed create
// keeps every object; any other failed step keeps the objects of its kind and of the
// kinds that contain it: after a failed link, no link, work item or project is
// deleted. This holds for objects that existed before the run, too, since the next
// run finds the half-finished replacement there. A step that the plan marks as not
// possible keeps nothing, since no later run completes it.
//
// Of the logged steps that can start, the first in the plan starts first. A step that
// becomes ready late can be overtaken by others while its intent is written. Only a
// sequence fixes the order.
//
// A step whose outcome is not known yet ([Pending]) gives its worker back and is taken
// up again when the service is to be asked again. Its dependents, and the later steps
// of its sequence, wait; everything else goes on. The run ends when all pending steps
// have ended.
//
// When the service refuses 20 steps of one operation in one project in a row, for the
// same reason and without a success before, the other steps of that operation are
// blocked by the first of the 20.
//
// A kind that the service turns out not to support blocks the objects inside objects of
// that kind; an object that only refers to one is sent without the reference.
//
// When the run ends early, running steps finish, the intents of steps that have not
// begun are withdrawn, pending steps become unknown, and the rest is not started.
//
// The package must not know HTTP or files: it gets a [Service] and a [Journal]. It
// prints nothing; it reports progress as [Event]s.
package executor
