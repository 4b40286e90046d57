// Package executor carries out a plan: concurrently, in dependency order, and
// so that whatever breaks when, what was done is known.
//
// A step starts when the steps it needs have succeeded and those it only comes
// after have ended. A failed step blocks what hangs on it and nothing else; what is
// blocked names the root cause. No two steps of one address are under way at the
// same time.
//
// Before a step's request may be sent its intent is in the [Journal]; after it
// its outcome. Intents are written in batches, ahead of the workers, so that a
// flush to disk serves many requests and nobody waits for it. How far ahead
// follows from how many steps end while a flush lasts: a few where the service
// sets the pace, and never more than 64 for each worker. Only steps that can
// start are logged, so a chain of steps costs a flush for each.
//
// The steps of one sequence begin in the order of the plan, each when the former
// has ended, however: a service that numbers what it creates then numbers it in that
// order. Everything else runs beside. A few of a sequence are logged ahead.
//
// What is to be deleted goes last, and only if what may replace it is complete: it may
// be the same thing, moved to another place. So nothing is deleted if a create did not
// succeed; and nothing of a kind if a step did not that changes something of that kind
// or in it, or brings a member in or into it: after a link that failed, no link, work
// item or project. That holds for what existed before the run, too, since the next run
// finds there what this one left incomplete. What the plan says is not possible keeps
// nothing: it never will be.
//
// Of the steps that can start and whose intent is written, the first in the plan
// starts first. So a step that becomes ready late can be overtaken, by what
// starts until its intent is written. Only a sequence fixes the order in which
// steps are carried out.
//
// A step whose outcome is not known yet ([Pending]) is set aside without a worker,
// and taken up again when the service is to be asked again. What hangs on it, and
// what follows it in a sequence, waits; everything else goes on. The run ends when
// all of them have ended.
//
// Twenty steps of one operation in one project that the service denies in a row, for one
// reason and without a success before, speak for all: the others are blocked by the
// first of them. Of refusals that are not about permission it takes a hundred.
//
// A kind that the service turns out not to have blocks what lives in an object of
// it; what only refers to one goes on without.
//
// When the run is to end early, steps under way finish, logged ones are taken
// back, pending ones are unknown, and the rest is not started.
//
// The package knows neither HTTP nor files: it is handed a [Service] and a
// [Journal]. It prints nothing; it tells what happens as [Event]s.
package executor
