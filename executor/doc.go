// Package executor carries out a plan concurrently and in dependency order, and records every step, whatever fails.
//
// A step starts when the steps in its Needs have succeeded, and the steps in its After have ended. A failed step blocks only its
// dependents; a blocked step names the root cause. Steps of the same address never run at the same time.
//
// The [Journal] stores the intent of a step before its request is sent, and its outcome afterwards. Intents are written in batches ahead of
// the workers, so that one flush to disk covers many requests, and workers do not wait for it. The number of intents ahead follows the
// number of steps that end during a flush: a few if the service is the bottleneck, at most 64 for each worker. Only steps that can start
// are logged, so a chain of steps costs one flush for each step.
//
// The steps of one sequence run one after the other in the order of the plan, whether they succeed or not, so that a service that numbers
// new objects numbers them in that order. Other steps run at the same time. A few steps of a sequence are logged ahead.
//
// Steps of one batch share requests, because the service limits requests and not rows. Each step has its own intent, outcome and events,
// and a refused step does not affect the others. A batch is gathered when a worker is free. A partial batch waits for steps whose
// predecessors are under way, and for no others. In a sequence, one batch is under way at a time; only a step that waits for a step of the
// same sequence, such as a sub-item for its parent, is overtaken.
//
// Deletes come last, and only if their possible replacements are complete, because the plan may move a deleted object to another place. A
// failed create keeps all objects. Any other failed step keeps the objects of its kind and of the kinds that contain it: after a failed
// link, no link, work item or project is deleted. This includes objects that existed before the run, because the next run finds the
// incomplete replacement there. A step that the plan marks as not possible keeps nothing, because no later run completes it.
//
// The first logged step in the plan that can start starts first. A step that becomes ready later can be overtaken while its intent is
// written. Only a sequence guarantees the order.
//
// A step whose outcome is not known yet ([Pending]) frees its worker, and resumes when the service should be asked again. Its dependents,
// and the later steps of its sequence, wait; other steps go on. The run ends when all pending steps have ended.
//
// If the service refuses 20 steps of one operation in one project in a row, for the same reason and without an earlier success, the first
// of these steps blocks the remaining steps of the operation.
//
// If the service does not support a kind, the objects inside objects of that kind are blocked; an object that only refers to one is sent
// without the reference.
//
// If the run ends early, running steps finish, the intents of steps that have not begun are withdrawn, pending steps become unknown, and
// the rest is not started.
//
// The package must not know HTTP or files: it gets a [Service] and a [Journal]. It prints nothing, and reports progress as [Event]s.
package executor
